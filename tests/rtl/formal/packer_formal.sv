// SPDX-License-Identifier: BSD-3-Clause
// The packer, by any one bit of any one block: it stands where the lengths of the codes before it put it, in a block of
// as many words and bits as its codes have.
module packer_formal (
    input logic        clk,
    input logic        in_valid,
    input logic        in_last,
    input logic [20:0] in_entry
);
  logic [4:0] length;
  logic [15:0] code;
  assign length = in_entry[20:16];
  assign code = in_entry[15:0];

  logic started = 1'b0;
  logic is_first = 1'b1;
  logic takes;
  assign takes = in_valid && started;
  logic word_valid, word_last;
  logic [4:0] word_bits;
  logic [31:0] word;
  packer dut (
      .clk,
      .rst(!started),
      .in_valid(takes),
      .in_first(is_first),
      .in_last,
      .in_entry,
      .word_valid,
      .word_last,
      .word_bits,
      .word
  );

  // Registers without a beginning: any bit, any block, for the whole run.
  logic [7:0] watched_bit;
  logic [3:0] watched_block;
  logic [3:0] in_block = 4'd0;
  logic [3:0] out_block = 4'd0;
  logic [7:0] in_bits = 8'd0;  // of the block at the input
  logic [7:0] block_bits;  // of the watched one
  logic [2:0] out_word = 3'd0;
  logic expected;
  logic is_expected = 1'b0;
  logic is_ended = 1'b0;
  logic [7:0] place;
  assign place = watched_bit - in_bits;

  always_ff @(posedge clk) begin
    started <= 1'b1;
    watched_bit <= watched_bit;
    watched_block <= watched_block;
    if (takes) begin
      is_first <= in_last;
      in_bits <= in_last ? 8'd0 : in_bits + {3'd0, length};
      in_block <= in_block + {3'd0, in_last};
      if (in_block == watched_block) begin
        if (watched_bit >= in_bits && place < {3'd0, length}) begin
          expected <= code[place[3:0]];
          is_expected <= 1'b1;
        end
        if (in_last) begin
          block_bits <= in_bits + {3'd0, length};
          is_ended <= 1'b1;
        end
      end
    end
    if (started && word_valid) begin
      out_word <= word_last ? 3'd0 : out_word + 3'd1;
      out_block <= out_block + {3'd0, word_last};
    end
  end

  // A code has 1 to 16 bits, zeros above.
  always_comb begin
    assume (length >= 5'd1 && length <= 5'd16);
    assume (code >> length == 16'd0);
  end
  always_comb begin
    if (started && word_valid && out_block == watched_block) begin
      if (out_word == watched_bit[7:5] && is_expected) assert (word[watched_bit[4:0]] == expected);
      if (word_last) begin
        assert (is_ended);
        assert (word_bits == block_bits[4:0]);
        assert (out_word == 3'((block_bits - 8'd1) >> 5));
      end else if (is_ended) begin
        assert ({out_word, 5'd31} < block_bits - 8'd1);
      end
    end
  end
endmodule
