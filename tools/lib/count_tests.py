"""Reads the JUnit file that ctest wrote: skipped and failed tests by name, then 'N passed, N failed[, N skipped]'."""

import sys
import xml.etree.ElementTree as ElementTree

passed, failed, skipped = [], [], []
for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    name, status = case.get("name"), case.get("status")
    if case.find("failure") is not None or case.find("error") is not None or status == "fail":
        failed.append(name)
    elif status == "run" and case.find("skipped") is None:
        passed.append(name)
    else:
        skipped.append(name)
for title, names in (("SKIPPED", skipped), ("FAILED", failed)):
    for name in names:
        print(f"        {title} {name}")
print(f"{len(passed)} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
