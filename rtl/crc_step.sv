// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 (ISO 3309, as in zlib) over a piece of BYTES bytes: the state after it from the state before it, in the same
// cycle. For pieces of changing sizes; crc32.sv takes whole words, and fewer tables for many bytes.
module crc_step #(
    parameter int BYTES = 4
) (
    input  logic [       31:0] state,
    input  logic [8*BYTES-1:0] data,
    output logic [       31:0] next
);
  // The step of one bit, BYTES * 8 times; bits of data leave lowest first.
  always_comb begin
    next = state;
    for (int i = 0; i < 8 * BYTES; i++) next = {1'b0, next[31:1]} ^ (next[0] ^ data[i] ? 32'hedb88320 : 32'd0);
  end
endmodule
