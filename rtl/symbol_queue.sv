// SPDX-License-Identifier: BSD-3-Clause
// A queue between two handshakes: what comes in leaves in order, and stays at the output until it is taken.
module symbol_queue #(
    parameter  int WIDTH = neve_pkg::SYMBOL_BITS,
    parameter  int DEPTH = 4,                      // a power of 2
    localparam int P = $clog2(DEPTH)
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
  logic [WIDTH-1:0] memory[DEPTH];
  logic [P-1:0] in_at, out_at;
  logic [P:0] count;
  logic takes, gives;
  assign in_ready = count != (P + 1)'(DEPTH);
  assign out_valid = count != '0;
  assign out_data = memory[out_at];
  assign takes = in_valid && in_ready;
  assign gives = out_valid && out_ready;

  always_ff @(posedge clk) begin
    if (takes) memory[in_at] <= in_data;
    if (takes) in_at <= in_at + P'(1);
    if (gives) out_at <= out_at + P'(1);
    count <= count + (P + 1)'(takes) - (P + 1)'(gives);
    if (rst) begin
      in_at <= '0;
      out_at <= '0;
      count <= '0;
    end
  end
endmodule
