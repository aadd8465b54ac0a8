// SPDX-License-Identifier: BSD-3-Clause
// What a byte with FOLLOWING bytes after it adds to a CRC-32 (ISO 3309, as in zlib), two cycles later: a block memory
// for what would be some 25 tables of exclusive ors.
module crc_table #(
  parameter int FOLLOWING = 0
) (
  input  logic        clk,
  input  logic [7:0]  data,
  output logic [31:0] added
);
  // The state `bits` zero bits later.
  function automatic [31:0] later(input [31:0] state, input integer bits);
    integer i;
    begin
      later = state;
      for (i = 0; i < bits; i = i + 1) later = {1'b0, later[31:1]} ^ (later[0] ? 32'hedb88320 : 32'd0);
    end
  endfunction
  // Of each bit of the byte, which leaves lowest first.
  localparam logic [31:0] LAST = later(32'd1, 1 + 8 * FOLLOWING);
  localparam logic [31:0] BIT6 = later(LAST, 1), BIT5 = later(LAST, 2), BIT4 = later(LAST, 3), BIT3 = later(LAST, 4),
                          BIT2 = later(LAST, 5), BIT1 = later(LAST, 6), BIT0 = later(LAST, 7);

  (* ram_style = "block" *) logic [31:0] memory [0:255];
  logic [31:0] fetched;
  integer b;
  initial begin
    for (b = 0; b < 256; b = b + 1)
      memory[b] = (b % 2 != 0 ? BIT0 : 32'd0) ^ (b / 2 % 2 != 0 ? BIT1 : 32'd0) ^ (b / 4 % 2 != 0 ? BIT2 : 32'd0) ^
                  (b / 8 % 2 != 0 ? BIT3 : 32'd0) ^ (b / 16 % 2 != 0 ? BIT4 : 32'd0) ^
                  (b / 32 % 2 != 0 ? BIT5 : 32'd0) ^ (b / 64 % 2 != 0 ? BIT6 : 32'd0) ^ (b >= 128 ? LAST : 32'd0);
  end
  always_ff @(posedge clk) begin
    fetched <= memory[data];
    added <= fetched;
  end
endmodule
