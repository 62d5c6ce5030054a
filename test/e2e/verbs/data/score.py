"""Counts the files with outputs of a folder: score.py FOLDER"""
import pathlib
import sys
import zipfile

files = sorted(pathlib.Path(sys.argv[1]).glob("*.npz"))
assert all(zipfile.ZipFile(path).namelist() == ["y.npy"] for path in files)
print("files:")
print(len(files))
