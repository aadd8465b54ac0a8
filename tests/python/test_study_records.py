# SPDX-License-Identifier: BSD-3-Clause
"""Records of studies: what is damaged counts as not measured, and is named once."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest

from neve_bench import machines
from neve_bench.records import Records
from neve_bench.study import deck, summary
from neve_bench.study.runs import Store

KEY, OTHER = "a" * 24, "b" * 24
RECORD = {"request": {"kind": "look"}, "error": None, "result": {"psnr_db": 61.5, "by": {2: "two"}}}
READ = {**RECORD, "result": {"psnr_db": 61.5, "by": {"2": "two"}}}


class Told(list):
    def __call__(self, text):
        self.append(text)


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def records(tmp_path, told):
    found = Records(tmp_path, told, "measured again")
    with found.locked():
        yield found


def content(record):
    return {k: v for k, v in record.items() if k not in ("key", "digest")}


def test_comes_back_with_key_and_digest_of_the_rest(records, tmp_path, told):
    records.write(KEY, RECORD)
    assert content(records.read(KEY)) == READ
    stored = json.loads((tmp_path / "runs" / f"{KEY}.json").read_text())
    assert stored["key"] == KEY and stored["request"] == RECORD["request"]
    digest = stored.pop("digest")
    canonical = json.dumps(stored, sort_keys=True, separators=(",", ":"))
    assert digest == hashlib.sha256(canonical.encode()).hexdigest()
    assert records.read(OTHER) is None and told == [], "what was not measured is not damaged"


def test_another_layout_of_the_same_json_is_no_damage(records, tmp_path, told):
    records.write(KEY, RECORD)
    path = tmp_path / "runs" / f"{KEY}.json"
    path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items()))))
    assert content(records.read(KEY)) == READ and told == []


DAMAGES = {
    "not JSON": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "a list": lambda text: "[1]",
    "null": lambda text: "null",
    "a text": lambda text: '"digest"',
    "without error, key and digest": lambda text: '{"result": {}}',
    "a number of another type": lambda text: text.replace("61.5", '"abc"'),
    "another number": lambda text: text.replace("61.5", "71.5"),
    "another request": lambda text: text.replace('"look"', '"plane"'),
    "without digest": lambda text: json.dumps(without(json.loads(text), "digest")),
    "without key": lambda text: json.dumps(without(json.loads(text), "key")),
    "without either": lambda text: json.dumps(without(json.loads(text), "key", "digest")),
    "a digest that is none": lambda text: json.dumps({**json.loads(text), "digest": 7}),
    "more than was written": lambda text: json.dumps({**json.loads(text), "more": 1}),
    "too deep": lambda text: "[" * 100_000 + "]" * 100_000,
    "a huge number": lambda text: text.replace("61.5", "9" * 10_000),
}


def without(record, *names):
    return {k: v for k, v in record.items() if k not in names}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_once_and_measured_again(records, tmp_path, told, damage):
    records.write(KEY, RECORD)
    path = tmp_path / "runs" / f"{KEY}.json"
    path.write_text(DAMAGES[damage](path.read_text()))
    assert records.read(KEY) is None and records.read(KEY) is None
    assert told == [f"runs/{KEY}.json is damaged: measured again"]
    records.write(KEY, RECORD)
    assert content(records.read(KEY)) == READ


def test_bytes_that_are_no_text(records, tmp_path, told):
    (tmp_path / "runs" / f"{KEY}.json").write_bytes(b"\xff\xfe{}")
    assert records.read(KEY) is None and len(told) == 1


def test_a_copy_of_another_record(records, tmp_path, told):
    records.write(KEY, RECORD)
    shutil.copy(tmp_path / "runs" / f"{KEY}.json", tmp_path / "runs" / f"{OTHER}.json")
    assert records.read(OTHER) is None
    assert content(records.read(KEY)) == READ
    assert told == [f"runs/{OTHER}.json is damaged: measured again"]


# ---- the mini-apps' study, which has records of before they were sealed --------------------------

DECK = """
ranks = [1, 2]
repeats = 1
disk-mib = 1
launcher = "mpirun -n {ranks} {command}"
[struct]
balance = ["off"]
outputs = ["hdf5"]
"""


@pytest.fixture
def cells(tmp_path):
    (tmp_path / "deck.toml").write_text(DECK)
    read = deck.read(str(tmp_path / "deck.toml"))
    return {"disk": read.disk[0], "struct": read.cells[0], "other": read.cells[1]}


@pytest.fixture
def store(tmp_path, told):
    found = Store(tmp_path, told, "run again")
    with found.locked():
        yield found


def old(cell, **changes):
    """As the study wrote them before it sealed them."""
    words = " ".join(["mpirun", "-n", str(cell.ranks), "neve", *cell.words])
    result = {"write_MBps": 100.0} if cell.app == "disk" else {"layouts": []}
    told = {"app": cell.app, "output": cell.output, "layout": cell.layout, "ranks": cell.ranks}
    head = {"cell": told, "command": words, "began": "2026-01-01T00:00:00Z"}
    return {**head, "seconds": 1.5, "load": 0.25, "result": result, "error": None, **changes}


def place(store, cell, record):
    path = store.folder / "runs" / f"{cell.key}-0.json"
    path.write_text(json.dumps(record))
    return path


@pytest.mark.parametrize("app", ["disk", "struct"])
def test_old_records_count(store, cells, told, app):
    for record in (
        old(cells[app]),
        old(cells[app], result=None, error="no such luck"),
        old(cells[app], error="values outside the bound"),
    ):
        place(store, cells[app], record)
        assert store.get(cells[app], 0) == record
    assert told == []


@pytest.mark.parametrize(
    "record",
    [
        [1],
        {"result": {}},
        {"result": None, "error": None},
        {"result": "abc"},
        {"result": {"write_MBps": 1.0}},
        {"error": 3},
        {"load": None},
        {"seconds": "1.5"},
        {"command": None},
        {"key": "struct-0"},
        {"digest": "0"},
    ],
)
def test_old_records_that_cannot_be_of_their_cell(store, cells, told, record):
    changed = record if isinstance(record, list) else old(cells["struct"], **record)
    path = place(store, cells["struct"], changed)
    assert store.get(cells["struct"], 0) is None and store.get(cells["struct"], 0) is None
    assert told == [f"runs/{path.name} is damaged: run again"]


def test_an_old_record_of_another_cell(store, cells, told):
    place(store, cells["struct"], old(cells["other"]))
    assert store.get(cells["struct"], 0) is None and len(told) == 1


def test_new_records_of_the_mini_apps_are_sealed(store, cells, told):
    store.put(cells["struct"], 0, old(cells["struct"]))
    path = store.folder / "runs" / f"{cells['struct'].key}-0.json"
    assert content(store.get(cells["struct"], 0)) == old(cells["struct"])
    path.write_text(path.read_text().replace("0.25", "0.75"))
    assert store.get(cells["struct"], 0) is None
    assert told == [f"runs/{path.name} is damaged: run again"]


# ---- machines ------------------------------------------------------------------------------------


def a_machine(cpu):
    return {"cpu": cpu, "cores": 2, "memory_gib": 4.0, "system": "Linux 6", "python": "3.12.1"}


def test_machines_of_records_each_once(store, cells, tmp_path):
    read = deck.read(str(tmp_path / "deck.toml"))
    assert summary.machines(read, store) == []
    store.put(cells["disk"], 0, {**old(cells["disk"]), "machine": a_machine("A")})
    store.put(cells["struct"], 0, {**old(cells["struct"]), "machine": a_machine("A")})
    assert summary.machines(read, store) == [a_machine("A")]
    store.put(cells["other"], 0, {**old(cells["other"]), "machine": a_machine("B")})
    assert summary.machines(read, store) == [a_machine("A"), a_machine("B")]
    place(store, cells["disk"], old(cells["disk"]))
    assert summary.machines(read, store) == [None, a_machine("A"), a_machine("B")]


def test_machines_are_named():
    text = machines.named([a_machine("A"), None, {**a_machine("B"), "memory_gib": None}])
    assert text == (
        "A, 2 cores, 4.0 GiB, Linux 6, Python 3.12.1; a machine that older records do not name; "
        "B, 2 cores, Linux 6, Python 3.12.1"
    )
    assert machines.named([]) == "no machine yet"
