# SPDX-License-Identifier: Apache-2.0
"""What the folders of descriptions hold beside the file itself: mesh files, images, and numbers that stay exact."""
