// SPDX-License-Identifier: BSD-3-Clause
// A sum of products of unsigned numbers: a * b is part of it two cycles later. `begins` makes it `from` and what comes in
// in that very cycle, `shifts` what the one below shows. A cycle without either and with a or b 0 leaves it as it is.
module multiply_accumulate (
    input  logic        clk,
    input  logic        begins,
    input  logic [47:0] from,        // a cycle later
    input  logic        shifts,
    input  logic [25:0] a,
    input  logic [16:0] b,
    input  logic [47:0] cascade_in,  // of the one below
    output logic [47:0] cascade,
    output logic [47:0] sum
);
  logic begins1, shifts1;
  always_ff @(posedge clk) begin
    begins1 <= begins;
    shifts1 <= shifts;
  end
`ifdef NEVE_PORTABLE
  logic [42:0] product;
  always_ff @(posedge clk) begin
    product <= a * b;
    sum <= (shifts1 ? cascade_in : begins1 ? from : sum) + 48'(product);
  end
  assign cascade = sum;
`else
  // A product, and in Z the sum, `from` or the cascade.
  localparam logic [8:0] AND_SUM = 9'b00_010_01_01;
  localparam logic [8:0] AND_FROM = 9'b00_011_01_01;
  localparam logic [8:0] AND_CASCADE = 9'b00_001_01_01;
  dsp_slice #(.MULTIPLIES(1)) slice (
      .clk, .a({4'd0, a}), .b({1'b0, b}), .c(from), .cascade_in,
      .opmode(shifts1 ? AND_CASCADE : begins1 ? AND_FROM : AND_SUM),
      .subtract(1'b0), .carry(1'b0), .p(sum), .cascade, .is_zero(), .is_ones());
`endif
endmodule
