# SPDX-License-Identifier: Apache-2.0
"""The neutral model to SDFormat: a model or a world, with the meshes and images it names (REP-0158 section 3).

entry            the entry: the order of work; frames, lights, the world, what is lost
context          what the writers share: models, written links and joints, names, version
plan             which models there are, which link or frame every body becomes, static models
inertials        <inertial> of links
joints           <joint> of all types, <axis> and <mimic>, loops, constraints
filters          <self_collide> and bitmasks
shapes           <collision> and <visual> with surface and material
geometry         <geometry>
devices          <sensor> and the <plugin> of controllers
sensor_settings  where each setting of a sensor stands
systems          the systems of a world that run its sensors
kept             what a source said beyond the model, put back
messages         what the writer may report
"""
