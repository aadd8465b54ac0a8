// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 (ISO 3309, as in zlib) over words of BYTES bytes: the state after one from the state before it.
module crc32 #(
  parameter int BYTES = 4
) (
  input  logic [31:0] state,
  input  logic [8*BYTES-1:0] data,
  output logic [31:0] next
);
  // The step of one bit, BYTES * 8 times; bits of data leave lowest first.
  logic [31:0] s;
  integer i;
  always_comb begin
    s = state;
    for (i = 0; i < 8 * BYTES; i = i + 1)
      s = {1'b0, s[31:1]} ^ (s[0] ^ data[i] ? 32'hedb88320 : 32'd0);
    next = s;
  end
endmodule
