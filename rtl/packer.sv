// SPDX-License-Identifier: BSD-3-Clause
// Codes of a block to words of 32 bits, the first bit lowest; one code a cycle, whose word leaves five cycles
// later. A block's last word follows its last code at once: no first code of a block fills a word, so that
// the two never meet.
module packer (
  input  logic        clk,
  input  logic        rst,
  input  logic        in_valid,
  input  logic        in_first,    // of a block
  input  logic        in_last,
  input  logic [neve_pkg::ENTRY_BITS-1:0] in_entry,  // {length, code}
  output logic        word_valid,
  output logic        word_last,   // of a block
  output logic [4:0]  word_bits,   // of the last word; 0: all
  output logic [31:0] word
);
  // 1: where the code goes. The only loop is one of 5 bits.
  logic        valid1, first1, last1, fills1;
  logic [15:0] code1;
  logic [4:0]  offset1, end1;
  logic [5:0]  end_next;
  assign end_next = {1'b0, in_first ? 5'd0 : end1} + {1'b0, in_entry[20:16]};
  always_ff @(posedge clk) begin
    valid1 <= in_valid & ~rst;
    if (in_valid) begin
      first1 <= in_first;
      last1 <= in_last;
      code1 <= in_entry[15:0];
      offset1 <= in_first ? 5'd0 : end1;
      end1 <= end_next[4:0];
      fills1 <= end_next[5];
    end
  end

  // 2, 3: shifted.
  logic        valid2, first2, last2, fills2, valid3, first3, last3, fills3, fills_low3, upper3;
  logic [18:0] code2;
  logic [30:0] code3;
  logic [2:0]  offset2;
  logic [4:0]  end2, end3;
  always_ff @(posedge clk) begin
    valid2 <= valid1 & ~rst;
    first2 <= first1;
    last2 <= last1;
    fills2 <= fills1;
    end2 <= end1;
    offset2 <= offset1[4:2];
    code2 <= {3'b0, code1} << offset1[1:0];

    valid3 <= valid2 & ~rst;
    first3 <= first2;
    last3 <= last2;
    fills3 <= valid2 & fills2 & ~rst;
    fills_low3 <= valid2 & fills2 & ~offset2[2];
    end3 <= end2;
    upper3 <= offset2[2];
    code3 <= {12'b0, code2} << {offset2[1:0], 2'b0};
  end

  // 4: gathered.
  logic [31:0] gathered4, low;
  logic        rest4;
  logic [4:0]  end4;
  assign low = (first3 ? 32'd0 : gathered4) | (upper3 ? {code3[15:0], 16'b0} : {1'b0, code3});
  always_ff @(posedge clk) begin
    word_valid <= ~rst & (rest4 | fills3);
    word_last <= rest4 | (last3 & ~|end3);
    word_bits <= rest4 ? end4 : 5'd0;
    word <= rest4 ? gathered4 : low;
    rest4 <= ~rst & valid3 & last3 & |end3;
    end4 <= end3;
    // Zeros first, so that they are a register's reset.
    if (fills3) gathered4[31:15] <= 17'd0;
    else if (valid3) gathered4[31:15] <= low[31:15];
    if (fills_low3) gathered4[14:0] <= 15'd0;
    else if (valid3) gathered4[14:0] <= fills3 ? code3[30:16] : low[14:0];
  end
endmodule
