# SPDX-License-Identifier: BSD-3-Clause
"""Moves registers behind ECP5 block memories and multipliers into their own output registers.

Yosys 0.23 leaves them outside, where half of a fast cycle is lost between memory and register. A
memory or multiplier whose every output that is used ends in one plain register on one clock gives
the same bits with its own register switched on.
"""


class Netlist:
    def __init__(self, module):
        self.cells = module["cells"]
        self.users = {}
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    continue
                for bit in bits:
                    self.users.setdefault(bit, []).append((name, port))
        for port in module["ports"].values():
            for bit in port["bits"]:
                self.users.setdefault(bit, []).append((None, None))

    def register_behind(self, bit, clock):
        """The one register that takes the bit, if it does nothing else; any clock if None."""
        users = self.users[bit]
        name, port = users[0]
        if len(users) > 1 or name is None:
            return None
        cell = self.cells[name]
        pins = cell["connections"]
        is_plain = (
            cell["type"] == "TRELLIS_FF"
            and port in ("DI", "M")
            and clock in (None, pins["CLK"])
            and pins.get("CE", ["1"]) == ["1"]
            and pins.get("LSR", ["0"]) == ["0"]
        )
        return name if is_plain else None

    def take_registers(self, cell, outputs, clock):
        """Whether the registers behind all outputs became the cell's own."""
        pins = self.cells[cell]["connections"]
        used = [p for p in pins if p.startswith(outputs) and self.users.get(pins[p][0])]
        behind = {p: self.register_behind(pins[p][0], clock) for p in used}
        if not behind or None in behind.values():
            return False
        clocks = {self.cells[r]["connections"]["CLK"][0] for r in behind.values()}
        if len(clocks) > 1:
            return False
        for port, register in behind.items():
            pins[port] = self.cells.pop(register)["connections"]["Q"]
        self.tie(cell, {"CLK0": clocks.pop()} if clock is None else {})
        return True

    def tie(self, cell, inputs):
        for port, bit in inputs.items():
            self.cells[cell]["connections"][port] = [bit]
            self.cells[cell]["port_directions"][port] = "input"


def absorb(design, top):
    """Changes the design of `yosys write_json`; returns (cells changed, cells) of each kind."""
    netlist = Netlist(design["modules"][top])
    memories = [n for n, c in netlist.cells.items() if c["type"] == "DP16KD"]
    multipliers = [n for n, c in netlist.cells.items() if c["type"] == "MULT18X18D"]
    changed = 0
    for memory in memories:
        clock = netlist.cells[memory]["connections"]["CLKB"]
        if netlist.take_registers(memory, ("DOA", "DOB"), clock):
            netlist.cells[memory]["parameters"].update(REGMODE_A="OUTREG", REGMODE_B="OUTREG")
            netlist.tie(memory, {"OCEA": "1", "OCEB": "1"})
            changed += 1
    multiplied = 0
    for multiplier in multipliers:
        if netlist.take_registers(multiplier, tuple(f"P{i}" for i in range(10)), None):
            netlist.cells[multiplier]["parameters"].update(REG_OUTPUT_CLK="CLK0")
            netlist.tie(multiplier, {"CE0": "1", "RST0": "0"})
            multiplied += 1
    return (changed, len(memories)), (multiplied, len(multipliers))
