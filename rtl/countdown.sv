// SPDX-License-Identifier: BSD-3-Clause
// A counter down to zero, which then begins again: `left` is what is left behind the one at hand.
module countdown #(
    parameter int WIDTH = 12,  // at most 47
    parameter int LESS = 0     // 1: a value that is loaded counts the one at hand too
) (
    input  logic             clk,
    input  logic             load,         // before all
    input  logic [WIDTH-1:0] value,
    input  logic             step,
    input  logic [WIDTH:0]   minus_again,  // signed: -1 - what is left after the first one when it begins again
    output logic [WIDTH-1:0] left,
    output logic             is_last       // nothing is left
);
`ifdef NEVE_PORTABLE
  /* verilator lint_off UNUSEDSIGNAL */
  logic [WIDTH:0] again;
  /* verilator lint_on UNUSEDSIGNAL */
  assign again = ~minus_again;
  always_ff @(posedge clk) begin
    if (load) begin
      left <= value - WIDTH'(LESS);
      is_last <= value == WIDTH'(LESS);
    end else if (step) begin
      left <= is_last ? again[WIDTH-1:0] : left - WIDTH'(1);
      is_last <= is_last ? again[WIDTH-1:0] == '0 : left == WIDTH'(1);
    end
  end
`else
  // Z is the value or p, X what it begins again from: p - X - carry, where p is 0.
  logic [47:0] p, wide;
  logic begins_again;
  assign wide = 48'($signed(minus_again));
  assign begins_again = step & ~load & is_last;
  dsp_slice slice (
      .clk, .a(wide[47:18]), .b(wide[17:0]), .c(48'(value)), .cascade_in('0),
      .opmode({5'b00_010, 2'b00, 2'b00} | {4'b0, load, 2'b00, {2{begins_again}}}), .subtract(1'b1),
      .carry(load ? LESS == 1 : step), .p, .cascade(), .is_zero(is_last), .is_ones());
  assign left = p[WIDTH-1:0];
`endif
endmodule
