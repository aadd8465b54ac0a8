// SPDX-License-Identifier: BSD-3-Clause
// AXI4-Stream words to pieces as whoever reads wants them: the next four bytes, or the next one. A word's bytes are the
// lowest of tkeep up to its first 0.
module byte_taker #(
    parameter int BYTES = 16  // of a word: 4, 8, 16 or 32
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               s_axis_tvalid,
    output logic               s_axis_tready,
    input  logic [8*BYTES-1:0] s_axis_tdata,
    input  logic [  BYTES-1:0] s_axis_tkeep,
    input  logic               s_axis_tlast,
    output logic               has_four,
    output logic               has_one,
    output logic               ended,         // nothing comes behind the bytes that are there
    input  logic               takes_four,    // never more than there are
    input  logic               takes_one,
    output logic [       31:0] bytes          // the first lowest
);
  localparam int QUARTERS = BYTES / 4;

  // A word, four bytes at a time.
  logic [8*BYTES-1:0] word;
  logic [BYTES-1:0] keep;
  logic is_last, inserts;
  logic [3:0] next_keep;
  logic [2:0] next_count;
  logic has_next, has_behind;  // quarters with bytes
  assign next_keep = keep[3:0];
  assign next_count = !next_keep[0] ? 3'd0 : !next_keep[1] ? 3'd1 : !next_keep[2] ? 3'd2 : !next_keep[3] ? 3'd3 : 3'd4;
  assign has_next = next_keep[0];
  generate
    if (QUARTERS > 1) begin : more
      assign has_behind = &next_keep && keep[4];
    end else begin : one
      assign has_behind = 1'b0;
    end
  endgenerate
  assign s_axis_tready = !ended && (!has_next || (inserts && !has_behind)) && !(is_last && has_next);

  // Up to eight bytes, zeros behind them.
  logic [63:0] held, inserted;
  logic [3:0] count;
  assign inserts = has_next && count <= 4'd4;
  assign has_four = count >= 4'd4;
  assign has_one = count != '0;
  assign bytes = held[31:0];
  always_comb begin
    inserted = '0;
    for (int i = 0; i < 4; i++) if (3'(i) < next_count) inserted[8*i+:8] = word[8*i+:8];
    inserted = inserts ? inserted << {count[2:0], 3'b0} : '0;
  end

  always_ff @(posedge clk) begin
    held <= (held | inserted) >> (takes_four ? 32 : takes_one ? 8 : 0);
    count <= count + (inserts ? 4'(next_count) : 4'd0) - (takes_four ? 4'd4 : takes_one ? 4'd1 : 4'd0);
    if (inserts) begin
      word <= word >> 32;
      keep <= has_behind ? keep >> 4 : '0;
      if (is_last && !has_behind) ended <= 1'b1;
    end
    if (s_axis_tvalid && s_axis_tready) begin
      word <= s_axis_tdata;
      keep <= s_axis_tkeep;
      is_last <= s_axis_tlast;
      if (s_axis_tlast && !s_axis_tkeep[0]) ended <= 1'b1;
    end
    if (rst) begin
      held <= '0;
      count <= '0;
      keep <= '0;
      is_last <= 1'b0;
      ended <= 1'b0;
    end
  end
endmodule
