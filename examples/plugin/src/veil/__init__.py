"""A plug-in of Celosia: copy this folder, rename it, and write your own part."""
