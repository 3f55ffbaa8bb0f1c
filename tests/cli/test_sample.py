from __future__ import annotations

import json

from cepts.pipeline.sample import sample_files


def test_sample_writes_every_file(cepts, tmp_path):
    ran = cepts("sample", tmp_path / "new" / "place")
    assert ran.code == 0
    assert f"{len(sample_files())} files" in ran.err
    written = {
        path.relative_to(tmp_path / "new" / "place").as_posix() for path in tmp_path.rglob("*") if path.is_file()
    }
    assert written == set(sample_files())
    assert {"sample.en", "spaces/en.npy", "lm/biology.txt", "toys.jsonl", "NOTICE.md"} <= written


def test_sample_leaves_alone_what_is_there(cepts, tmp_path):
    cepts("sample", tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    (tmp_path / "toys.jsonl").unlink()
    found = json.loads(cepts("sample", tmp_path, "--json", "-q").out)
    assert found["written"] == 1
    assert (tmp_path / "toys.jsonl").read_bytes() == sample_files()["toys.jsonl"].read_bytes()
    del before[tmp_path / "toys.jsonl"]
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_sample_overwrites_nothing_unless_told_to(cepts, tmp_path):
    (tmp_path / "toys.jsonl").write_text("mine", encoding="utf-8")
    error = cepts("sample", tmp_path).error
    assert str(tmp_path / "toys.jsonl") in error
    assert "--force" in error
    assert [path.name for path in tmp_path.iterdir()] == ["toys.jsonl"]
    assert cepts("sample", tmp_path, "--force").code == 0
    assert (tmp_path / "toys.jsonl").read_bytes() == sample_files()["toys.jsonl"].read_bytes()


def test_a_file_in_place_of_the_directory_is_said(cepts, tmp_path):
    (tmp_path / "here").write_text("", encoding="utf-8")
    assert str(tmp_path / "here") in cepts("sample", tmp_path / "here").error
