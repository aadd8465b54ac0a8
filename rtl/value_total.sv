// SPDX-License-Identifier: BSD-3-Clause
// The values of a stream's blocks against those of its shape: as many, or a multiple of them where a size is open.
module value_total #(
    parameter int PLANE_BITS = 12,
    parameter int TOTAL_BITS = 41
) (
    input  logic                  clk,
    input  logic                  begins,
    input  logic                  adds,            // a block
    input  logic [          31:0] block_values,
    input  logic                  block_restart,
    input  logic                  block_is_last,
    input  logic [TOTAL_BITS-1:0] total,
    input  logic                  is_open,
    output logic                  is_wrong,        // what there is with that block
    output logic                  is_past_plane,   // more values than a plane has since the last restart
    input  logic                  load,
    input  logic                  divides,         // for TOTAL_BITS cycles
    output logic                  is_multiple
);
  localparam logic [TOTAL_BITS:0] MAX_VALUES = (TOTAL_BITS + 1)'(1) << (TOTAL_BITS - 1);
  logic [TOTAL_BITS:0] values_so_far, since_restart;
  assign is_wrong = values_so_far > (is_open ? MAX_VALUES : {1'b0, total}) ||
      (block_is_last && !is_open && values_so_far != {1'b0, total});
  assign is_past_plane = since_restart > (TOTAL_BITS + 1)'(1 << PLANE_BITS);

  // Values modulo the sizes that are not open, bit by bit.
  logic [TOTAL_BITS-1:0] dividend, remainder;
  logic [TOTAL_BITS:0] twice, twice_less;
  assign twice = {remainder, dividend[TOTAL_BITS-1]};
  assign twice_less = twice - {1'b0, total};
  assign is_multiple = remainder == '0;

  always_ff @(posedge clk) begin
    if (adds) begin
      values_so_far <= values_so_far + (TOTAL_BITS + 1)'(block_values);
      since_restart <= (block_restart ? '0 : since_restart) + (TOTAL_BITS + 1)'(block_values);
    end
    if (begins) values_so_far <= '0;
    if (divides) begin
      dividend <= dividend << 1;
      remainder <= twice_less[TOTAL_BITS] ? twice[TOTAL_BITS-1:0] : twice_less[TOTAL_BITS-1:0];
    end
    if (load) begin
      dividend <= values_so_far[TOTAL_BITS-1:0];
      remainder <= '0;
    end
  end
endmodule
