// SPDX-License-Identifier: BSD-3-Clause
// What is left of the part of a block at hand, in pieces of four bytes and then of one, and of the block's payload; and the
// words of a part, the last one padded with zeros. Comparisons are made ahead.
module part_counter (
    input  logic        clk,
    input  logic        takes_four,
    input  logic        takes_one,
    input  logic [31:0] bytes,
    input  logic        load_payload,
    input  logic [31:0] payload,
    input  logic        load,           // a part
    input  logic [32:0] part,
    input  logic        begins_word,    // a part's words, or nothing any more
    output logic [32:0] payload_left,
    output logic        has_payload,
    output logic        has_fours,
    output logic        is_through,
    output logic        word_valid,     // in this cycle
    output logic [31:0] word
);
  logic [30:0] fours_left;
  logic [1:0] ones_left;
  assign is_through = !has_fours && ones_left == '0;
  assign word_valid = takes_four || (takes_one && ones_left == 2'd1);

  // Four bytes, or as many as a part's last word has.
  logic [23:0] tail;
  logic [1:0] tail_at;
  always_comb begin
    word = has_fours ? bytes : {8'd0, tail};
    for (int i = 0; i < 4; i++) if (!has_fours && tail_at == 2'(i)) word[8*i+:8] = bytes[7:0];
  end

  always_ff @(posedge clk) begin
    if (takes_four) begin
      fours_left <= fours_left - 31'd1;
      has_fours <= fours_left != 31'd1;
    end else if (takes_one) begin
      ones_left <= ones_left - 2'd1;
    end
    if (takes_four || takes_one) payload_left <= payload_left - (takes_four ? 33'd4 : 33'd1);
    has_payload <= payload_left != (takes_four ? 33'd4 : takes_one ? 33'd1 : 33'd0);
    if (takes_one) begin
      for (int i = 0; i < 3; i++) if (tail_at == 2'(i)) tail[8*i+:8] <= bytes[7:0];
      tail_at <= tail_at + 2'd1;
    end
    if (load_payload) payload_left <= {1'b0, payload};
    if (load) begin
      {fours_left, ones_left} <= part;
      has_fours <= part[32:2] != '0;
    end
    if (begins_word) tail_at <= '0;
  end
endmodule
