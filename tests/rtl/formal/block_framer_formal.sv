// SPDX-License-Identifier: BSD-3-Clause
// The engine's output as an AXI4-Stream: what is valid stays as it is until it is taken; tkeep has no gap, and is whole
// before tlast. Whatever lanes, registers and memories show: all of that is open here.
module block_framer_formal (
    input logic clk,
    input logic rst_again,
    input logic out_ready
);
  logic started = 1'b0;
  logic out_valid, out_last;
  logic [ 7:0] out_keep;
  logic [63:0] out_data;
  block_framer #(
      .BLOCK_BITS (8),
      .BYTES      (8),
      .MEMORY_BITS(8)
  ) dut (
      .clk,
      .rst(!started || rst_again),
      .out_valid,
      .out_ready,
      .out_data,
      .out_keep,
      .out_last
  );

  logic waited = 1'b0;
  logic waiting_last;
  logic [7:0] waiting_keep;
  logic [63:0] waiting;
  always_ff @(posedge clk) begin
    started <= 1'b1;
    waited <= started && !rst_again && out_valid && !out_ready;
    waiting_last <= out_last;
    waiting_keep <= out_keep;
    waiting <= out_data;
  end

  // Of the joiner: a word of its own holds a byte at least.
  (* hierconn *) wire \dut.out_joiner.rest4 ;
  (* hierconn *) wire [2:0] \dut.out_joiner.end4 ;
  always_comb begin
    if (started) begin
      if (\dut.out_joiner.rest4 ) assert (\dut.out_joiner.end4 != 3'd0);
      if (waited) begin
        assert (out_valid);
        assert (out_last == waiting_last && out_keep == waiting_keep && out_data == waiting);
      end
      if (out_valid) begin
        assert (out_keep[0]);
        assert ((out_keep & (out_keep + 8'd1)) == 8'd0);
        assert (out_last || out_keep == 8'hff);
      end
    end else begin
      assert (!waited);
    end
  end
endmodule
