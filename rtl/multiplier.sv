// SPDX-License-Identifier: BSD-3-Clause
// The product of two unsigned numbers, three cycles later.
module multiplier #(
    parameter int A_BITS = 24,  // at most 26
    parameter int B_BITS = 24   // 18 to 34
) (
    input  logic                     clk,
    input  logic [       A_BITS-1:0] a,
    input  logic [       B_BITS-1:0] b,
    output logic [A_BITS+B_BITS-1:0] product
);
`ifdef NEVE_PORTABLE
  // Four products of half as many bits, so that every device's multipliers fit and each adder has a cycle of its own.
  localparam int AL = A_BITS / 2;
  localparam int AH = A_BITS - AL;
  localparam int BL = B_BITS / 2;
  localparam int BH = B_BITS - BL;
  logic [AL+BL-1:0] low;
  logic [AH+BL-1:0] middle_a;
  logic [AL+BH-1:0] middle_b;
  logic [AH+BH-1:0] high;
  logic [A_BITS+B_BITS-1:0] ends, middle;
  always_ff @(posedge clk) begin
    low <= a[AL-1:0] * b[BL-1:0];
    middle_a <= a[A_BITS-1:AL] * b[BL-1:0];
    middle_b <= a[AL-1:0] * b[B_BITS-1:BL];
    high <= a[A_BITS-1:AL] * b[B_BITS-1:BL];

    middle <= ((A_BITS + B_BITS)'(middle_a) << AL) + ((A_BITS + B_BITS)'(middle_b) << BL);
    ends <= {high, low};

    product <= ends + middle;
  end
`else
  // a * b = a * b[16:0] + (a * b[..:17] << 17): the second slice adds what the first one shows it, 17 places lower.
  localparam logic [8:0] PRODUCT = 9'b00_000_01_01;
  localparam logic [8:0] PRODUCT_AND_BELOW = 9'b00_101_01_01;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [47:0] low, high, cascade;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [16:0] last;
  dsp_slice #(.MULTIPLIES(1)) low_i (
      .clk, .a(30'(a)), .b({1'b0, b[16:0]}), .c('0), .cascade_in('0), .opmode(PRODUCT), .subtract(1'b0),
      .carry(1'b0), .p(low), .cascade, .is_zero(), .is_ones());
  dsp_slice #(.MULTIPLIES(1), .INPUT_REGISTER(1)) high_i (
      .clk, .a(30'(a)), .b(18'(b[B_BITS-1:17])), .c('0), .cascade_in(cascade), .opmode(PRODUCT_AND_BELOW),
      .subtract(1'b0), .carry(1'b0), .p(high), .cascade(), .is_zero(), .is_ones());
  always_ff @(posedge clk) last <= low[16:0];
  assign product = {high[A_BITS+B_BITS-18:0], last};
`endif
endmodule
