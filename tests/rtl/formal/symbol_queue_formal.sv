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

  // Registers of the queue.
  (* hierconn *) wire [2:0] \dut.count ;
  (* hierconn *) wire [1:0] \dut.in_at ;
  (* hierconn *) wire [1:0] \dut.out_at ;
  (* hierconn *) wire [9:0] \dut.memory[0] ;
  (* hierconn *) wire [9:0] \dut.memory[1] ;
  (* hierconn *) wire [9:0] \dut.memory[2] ;
  (* hierconn *) wire [9:0] \dut.memory[3] ;

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
  // Where the watched element stands while it is inside.
  logic [3:0] ahead;
  logic [1:0] place;
  logic [9:0] stored;
  assign ahead = watched - given;
  assign place = \dut.out_at + ahead[1:0];
  always_comb begin
    case (place)
      2'd0: stored = \dut.memory[0] ;
      2'd1: stored = \dut.memory[1] ;
      2'd2: stored = \dut.memory[2] ;
      default: stored = \dut.memory[3] ;
    endcase
  end
  always_comb begin
    if (!started) begin
      assert (taken == 4'd0 && given == 4'd0 && !waited);
    end else begin
      // What makes the others hold from any cycle to the next.
      assert ({1'b0, \dut.count } == held);
      assert (\dut.in_at == \dut.out_at + held[1:0]);
      if (ahead < held) assert (stored == expected);

      assert (held <= DEPTH);
      assert (out_valid == (held != 4'd0));
      assert (in_ready == (held != DEPTH));
      if (out_valid && given == watched) assert (out_data == expected);
      if (waited) assert (out_valid && out_data == waiting);
    end
  end
endmodule
