# SPDX-License-Identifier: Apache-2.0
"""Many assets: a job is a command, its options and a list of assets; every asset gives one outcome.

model      what a job, an item of it and an outcome are; the table of commands that can be a job
listing    files, folders, patterns and manifest files as the items of a job
store      the state of a job in a file, beside its results
running    a job through an executor, with or without a store
ray        the executor for a cluster of machines
kinds      diff, prove, render and task evaluation as jobs
reports    reports made from the rows of a store, one after the other
page       the report as a page with filters
"""
