# SPDX-License-Identifier: BSD-3-Clause
"""Moves registers behind ECP5 block memories into the memories' own output registers.

Yosys 0.23 leaves them outside, where half of a fast cycle is lost between memory and register. A
memory whose every output that is used ends in one plain register on the memory's clock gives the
same bits with its own register switched on.
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
        """The one register that takes the bit, if it does nothing else."""
        users = self.users[bit]
        name, port = users[0]
        if len(users) > 1 or name is None:
            return None
        cell = self.cells[name]
        pins = cell["connections"]
        is_plain = (
            cell["type"] == "TRELLIS_FF"
            and port in ("DI", "M")
            and pins["CLK"] == clock
            and pins.get("CE", ["1"]) == ["1"]
            and pins.get("LSR", ["0"]) == ["0"]
        )
        return name if is_plain else None


def absorb(design, top):
    """Changes the design of `yosys write_json`; returns (memories changed, memories)."""
    netlist = Netlist(design["modules"][top])
    memories = [n for n, c in netlist.cells.items() if c["type"] == "DP16KD"]
    changed = 0
    for memory in memories:
        pins = netlist.cells[memory]["connections"]
        outputs = [p for p in pins if p[:3] in ("DOA", "DOB") and netlist.users.get(pins[p][0])]
        behind = {p: netlist.register_behind(pins[p][0], pins["CLKB"]) for p in outputs}
        if not behind or None in behind.values():
            continue
        for port, register in behind.items():
            pins[port] = netlist.cells.pop(register)["connections"]["Q"]
        netlist.cells[memory]["parameters"].update(REGMODE_A="OUTREG", REGMODE_B="OUTREG")
        for enable in ("OCEA", "OCEB"):
            pins[enable] = ["1"]
            netlist.cells[memory]["port_directions"][enable] = "input"
        changed += 1
    return changed, len(memories)
