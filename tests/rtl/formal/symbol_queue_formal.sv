// SPDX-License-Identifier: BSD-3-Clause
// A queue's handshakes: any one element leaves in its turn, as it came in; none appears or is lost; what is valid stays
// until it is taken.
module symbol_queue_formal (
    input logic       clk,
    input logic       in_valid,
    input logic [9:0] in_data,
    input logic       out_ready
);
  localparam logic [3:0] DEPTH = 4'd4;

  logic started = 1'b0;
  logic in_ready, out_valid;
  logic [9:0] out_data;
  symbol_queue dut (
      .clk,
      .rst(!started),
      .in_valid(in_valid && started),
      .in_ready,
      .in_data,
      .out_valid,
      .out_ready(out_ready && started),
      .out_data
  );

  logic takes, gives;
  assign takes = started && in_valid && in_ready;
  assign gives = started && out_valid && out_ready;
  logic [3:0] taken = 4'd0;
  logic [3:0] given = 4'd0;
  logic [3:0] watched;  // any, for the whole run
  logic [9:0] expected;
  logic waited = 1'b0;
  logic [9:0] waiting;
  always_ff @(posedge clk) begin
    started <= 1'b1;
    watched <= watched;
    taken <= taken + {3'd0, takes};
    given <= given + {3'd0, gives};
    if (takes && taken == watched) expected <= in_data;
    waited <= started && out_valid && !out_ready;
    waiting <= out_data;
  end

  logic [3:0] held;
  assign held = taken - given;
  always_comb begin
    if (started) begin
      assert (held <= DEPTH);
      assert (out_valid == (held != 4'd0));
      assert (in_ready == (held != DEPTH));
      if (out_valid && given == watched) assert (out_data == expected);
      if (waited) assert (out_valid && out_data == waiting);
    end
  end
endmodule
