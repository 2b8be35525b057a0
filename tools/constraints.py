"""Print the installed versions as constraints: names and versions only, no addresses."""

import importlib.metadata

LEFT_OUT = {"celosia", "celosia-reproduce", "pip", "setuptools", "wheel"}
versions = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in importlib.metadata.distributions()}
for name in sorted(versions):
    if name not in LEFT_OUT:
        print(f"{name}=={versions[name]}")
