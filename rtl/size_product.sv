// SPDX-License-Identifier: BSD-3-Clause
// base + a * b, a bit of b a cycle, from the cycle after `load` on until is_through; beyond 2^(BITS - 1) it only says so.
module size_product #(
    parameter int BITS = 41
) (
    input  logic            clk,
    input  logic            load,
    input  logic [BITS-1:0] a,
    input  logic [BITS-1:0] b,
    input  logic [  BITS:0] base,
    input  logic            runs,
    output logic            is_through,  // while it runs
    output logic [  BITS:0] product,
    output logic            is_beyond
);
  localparam logic [BITS:0] MOST = (BITS + 1)'(1) << (BITS - 1);
  logic [BITS-1:0] factor, multiplier;
  logic factor_is_beyond, was_beyond;
  assign is_through = runs && multiplier == '0;
  assign is_beyond = was_beyond || product > MOST;
  always_ff @(posedge clk) begin
    if (runs) begin
      if (multiplier[0]) begin
        product <= product + {1'b0, factor};
        was_beyond <= is_beyond || factor_is_beyond;
      end
      factor <= factor << 1;
      factor_is_beyond <= factor_is_beyond || factor[BITS-1];
      multiplier <= multiplier >> 1;
    end
    if (load) begin
      factor <= a;
      multiplier <= b;
      product <= base;
      factor_is_beyond <= 1'b0;
      was_beyond <= 1'b0;
    end
  end
endmodule
