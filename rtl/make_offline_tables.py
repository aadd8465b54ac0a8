#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the modules that hold the offline codebooks from src/core/stream/offline_codebooks.inc.

rtl/make_offline_tables.py OUTPUT_DIRECTORY writes
  offline_entries.sv, .hex   {length, code} of every symbol of every codebook
  offline_lengths.sv, .hex   lengths of all codebooks side by side, as codebook_choice.sv takes them
"""

import re
import sys
from pathlib import Path

SYMBOLS = 1024
CODEBOOKS = 16
LONGEST = 16
SOURCE = Path(__file__).resolve().parent.parent / "src/core/stream/offline_codebooks.inc"


def read_codebooks(text):
    text = re.sub(r"//.*", "", text)
    runs = re.findall(r"\{\s*(\d+)\s*,\s*(\d+)\s*\}", text)
    lengths = [int(length) for length, symbols in runs for _ in range(int(symbols))]
    if len(lengths) != CODEBOOKS * SYMBOLS:
        sys.exit(f"{SOURCE}: lengths of {len(lengths)} symbols, must be {CODEBOOKS} x {SYMBOLS}")
    return [lengths[b * SYMBOLS : (b + 1) * SYMBOLS] for b in range(CODEBOOKS)]


def entries(lengths):
    """Canonical codes (docs/format.md, "Codes"), the first bit lowest."""
    made = [0] * SYMBOLS
    code = 0
    for length in range(1, LONGEST + 1):
        code <<= 1
        for symbol, own in enumerate(lengths):
            if own == length:
                reversed_code = int(format(code, f"0{length}b")[::-1], 2)
                made[symbol] = length << LONGEST | reversed_code
                code += 1
    if code != 1 << LONGEST:
        sys.exit(f"{SOURCE}: a codebook fills {code}/{1 << LONGEST} of its code space")
    return made


MODULE = """// SPDX-License-Identifier: BSD-3-Clause
// Made by rtl/make_offline_tables.py.
module {name} (
    input  logic        clk,
{select_port}    input  logic [9:0]  symbol,
    output logic [{top}:0] {value}  // {what}
);
  (* ram_style = "block" *) logic [{top}:0] memory[{depth}];
  initial $readmemh("{hex}", memory);
  always_ff @(posedge clk) {value} <= memory[{address}];
endmodule
"""


def write_module(directory, name, words, bits, select, value, what):
    hex_path = directory / f"{name}.hex"
    digits = (bits + 3) // 4
    hex_path.write_text("".join(f"{word:0{digits}x}\n" for word in words))
    high = (len(words) // SYMBOLS).bit_length() - 2
    text = MODULE.format(
        name=name,
        select_port=f"    input  logic [{high}:0]  {select},\n" if select else "",
        address=f"{{{select}, symbol}}" if select else "symbol",
        top=bits - 1,
        depth=len(words),
        hex=hex_path,
        value=value,
        what=what,
    )
    (directory / f"{name}.sv").write_text(text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = Path(sys.argv[1]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    codebooks = read_codebooks(SOURCE.read_text())
    table = [entry for codebook in codebooks for entry in entries(codebook)]
    write_module(directory, "offline_entries", table, 21, "codebook", "entry", "{length, code}")
    lengths = [sum(codebooks[b][s] << 5 * b for b in range(CODEBOOKS)) for s in range(SYMBOLS)]
    write_module(
        directory, "offline_lengths", lengths, 5 * CODEBOOKS, None, "lengths", "codebook 0 lowest"
    )


if __name__ == "__main__":
    main()
