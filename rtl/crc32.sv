// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 (ISO 3309, as in zlib) of messages of words of BYTES bytes; a word is part of `crc` four cycles after it.
//
// A message begins with `zeros` zero bytes that do not count: `start` sets a state that all ones come out of behind
// them. The state after a word is M s + sum of T_i(byte i), over GF(2): the sum needs no state and is made of memories.
module crc32 #(
  parameter int BYTES = 16  // a power of 2
) (
  input  logic        clk,
  input  logic        start,      // at most three cycles after the message's first word
  input  logic [$clog2(BYTES)-1:0] zeros,
  input  logic        word_valid,
  input  logic [8*BYTES-1:0] word,
  output logic [31:0] crc
);
  localparam logic [31:0] POLYNOMIAL = 32'hedb88320;

  function automatic [31:0] later(input [31:0] state, input integer bits);
    integer i;
    begin
      later = state;
      for (i = 0; i < bits; i = i + 1) later = {1'b0, later[31:1]} ^ (later[0] ? POLYNOMIAL : 32'd0);
    end
  endfunction
  function automatic [31:0] earlier(input [31:0] state, input integer bits);
    integer i;
    begin
      earlier = state;
      for (i = 0; i < bits; i = i + 1)
        earlier = earlier[31] ? {earlier[30:0] ^ POLYNOMIAL[30:0], 1'b1} : {earlier[30:0], 1'b0};
    end
  endfunction

  logic [32*BYTES-1:0] added;  // by each byte of the word
  genvar g;
  generate
    for (g = 0; g < BYTES; g = g + 1) begin : tables
      crc_table #(.FOLLOWING(BYTES - 1 - g)) table_i (
        .clk(clk), .data(word[8*g+:8]), .added(added[32*g+:32]));
    end
    // What a message starts from.
    logic [32*BYTES-1:0] starts;
    for (g = 0; g < BYTES; g = g + 1) begin : zero_bytes
      localparam logic [31:0] STARTS = earlier('1, 8 * g);
      assign starts[32*g+:32] = STARTS;
    end
    // M, a column for each bit of the state.
    logic [32*32-1:0] moved;
    for (g = 0; g < 32; g = g + 1) begin : columns
      localparam logic [31:0] COLUMN = later(32'd1 << g, 8 * BYTES);
      assign moved[32*g+:32] = {32{crc[g]}} & COLUMN;
    end
  endgenerate

  logic [3:1]  valid;
  logic [31:0] sum, word_sum3, crc_of_word;
  integer i;
  always_comb begin
    sum = 32'd0;
    crc_of_word = word_sum3;
    for (i = 0; i < BYTES; i = i + 1) sum = sum ^ added[32*i+:32];
    for (i = 0; i < 32; i = i + 1) crc_of_word = crc_of_word ^ moved[32*i+:32];
  end
  always_ff @(posedge clk) begin
    valid <= {valid[2:1], word_valid};
    word_sum3 <= sum;
    if (start) crc <= starts[32*zeros+:32];
    else if (valid[3]) crc <= crc_of_word;
  end
endmodule
