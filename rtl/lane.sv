// SPDX-License-Identifier: BSD-3-Clause
// One lane: blocks of float32 values to codes and side stream, one value a cycle. Nothing inside stalls: a
// block begins when there is room for all that can come of it.
//
//   values -> quantizer -> lorenzo -> side_stream -> symbols (4 blocks) -> code table -> packer -> codes
//                                          |-> histogram (2 blocks)                   entries -> side
//
// A block's codes wait until its round has a codebook (round_codebooks.sv).
module lane #(
  parameter int BLOCK_BITS = 12,   // blocks of at most 2^BLOCK_BITS values, 8 to 16
  parameter int DIMS = 3,
  parameter int LINE_BITS = 12,
  parameter int PLANE_BITS = 12,
  parameter int WORDS = 4          // of 32 bits, that codes are read in: 2, 4, 8 or 16
) (
  input  logic        clk,
  input  logic        rst,

  // Settings, constant while values are inside (`empty` says when not).
  input  neve_pkg::quantizer_settings_t settings,
  input  logic [1:0]  dims,
  input  logic [15:0] line_last,
  input  logic [15:0] plane_last,
  input  logic [PLANE_BITS:0] plane_values,
  output logic        empty,

  // Blocks, one ahead of the values.
  input  logic        block_valid,
  output logic        block_ready,
  input  logic [BLOCK_BITS:0] block_values,
  input  logic        block_restart,
  input  logic [15:0] block_x,
  input  logic [15:0] block_y,

  input  logic        in_valid,
  output logic        in_ready,
  input  logic [31:0] in_data,

  // Counts of the oldest block not read yet: `counted` says that they are there, `counts_taken` frees them.
  output logic        counted,
  input  logic        counts_taken,
  input  logic        count_read,
  input  logic        count_clear_all,
  input  logic [9:0]  count_addr,
  output logic [BLOCK_BITS:0] count_data,   // two cycles later
  output logic [BLOCK_BITS+2:0] counted_side_bytes,  // of that block

  // The next block's codebook: `codebook_pending` until its first symbol has been read.
  input  logic        codebook_valid,
  input  logic        codebook_bank,
  output logic        codebook_pending,
  input  logic        table_write,
  input  logic        table_bank,
  input  logic [9:0]  table_addr,
  input  logic [neve_pkg::ENTRY_BITS-1:0] table_entry,

  // The oldest packed block. What is read shows in one cycle, and zeros in others: lanes are joined by OR.
  output logic        packed_valid,
  input  logic        packed_taken,
  input  logic        packed_read,          // its sizes, one cycle later
  output logic [BLOCK_BITS:0] packed_values,
  output logic [BLOCK_BITS:0] packed_symbols,
  output logic [BLOCK_BITS:0] packed_entries,   // of the side stream
  output logic [BLOCK_BITS+2:0] packed_side_bytes,
  output logic [BLOCK_BITS+1:0] packed_code_bytes,
  input  logic        codes_read,           // the next words, one cycle later
  output logic [32*WORDS-1:0] codes_data,
  input  logic        side_read,            // the next entry, one cycle later
  output logic        side_special,
  output logic [15:0] side_run,
  output logic [31:0] side_value
);
  // Lanes share their code in simulation.
  /* verilator no_inline_module */
  localparam int BLOCK = 1 << BLOCK_BITS;
  localparam int WORD_BITS = $clog2(WORDS);
  localparam int INFLIGHT_BITS = 6;  // fewer than 2^6 values are between input and memories

  // a - b modulo 8, in tables: an adder takes more of them.
  function automatic logic [2:0] distance(input logic [2:0] a, input logic [2:0] b);
    distance[0] = a[0] ^ b[0];
    distance[1] = a[1] ^ b[1] ^ (~a[0] & b[0]);
    distance[2] = a[2] ^ b[2] ^ ((~a[1] & b[1]) | (~(a[1] ^ b[1]) & ~a[0] & b[0]));
  endfunction

  // --- values in ---------------------------------------------------------------------------------------

  logic        is_open;
  logic        is_last;
  logic        next_first;
  logic        restart;
  logic [15:0] start_x, start_y;
  logic        ends_now, opens_now;
  logic        opened, opened_restart;
  logic [2:0]  opened_block;
  logic [BLOCK_BITS:0] opened_values;
  logic [15:0] opened_x, opened_y;

  // Blocks begun, counted, whose counts were taken, with a codebook, packed, taken: modulo 8.
  logic [2:0]  begun, done_blocks, taken_counts, packed_blocks, taken_blocks;
  logic [2:0]  unpacked, untaken;  // begun, and not yet
  logic [BLOCK_BITS+2:0] side_used;
  logic        has_room;
  assign unpacked = distance(begun, packed_blocks);
  assign untaken = distance(begun, taken_counts);
  always_ff @(posedge clk) begin
    has_room <= ~unpacked[2] & ~|untaken[2:1] & ~opens_now &
                ~(|side_used[BLOCK_BITS+1:BLOCK_BITS] | &side_used[BLOCK_BITS-1:INFLIGHT_BITS]);
  end
  // Where none opens, the next one will.
  countdown #(.WIDTH(BLOCK_BITS + 1), .LESS(1)) values_left (
    .clk(clk), .load(~is_open | ends_now), .value(block_values), .step(in_valid), .minus_again('0), .left(),
    .is_last(is_last));

  assign in_ready = is_open;
  assign ends_now = is_open & in_valid & is_last;
  assign block_ready = has_room & (~is_open | ends_now);
  assign opens_now = block_valid & block_ready;
  always_ff @(posedge clk) begin
    if (rst) begin
      is_open <= 1'b0;
      begun <= 3'd0;
    end else begin
      if (opens_now) begin
        is_open <= 1'b1;
        begun <= begun + 3'd1;
      end else if (ends_now) begin
        is_open <= 1'b0;
      end
    end
    if (~is_open) next_first <= 1'b1;
    else if (in_valid) next_first <= is_last;
    // Behind registers, since there is time.
    opened <= opens_now & ~rst;
    opened_block <= begun;
    opened_values <= block_values;
    opened_restart <= block_restart;
    opened_x <= block_x;
    opened_y <= block_y;
    if (opened) begin
      restart <= opened_restart;
      start_x <= opened_x;
      start_y <= opened_y;
    end
  end
  assign empty = ~is_open & begun == done_blocks;

  // --- quantization codes, symbols ---------------------------------------------------------------------

  logic q_valid, q_special;
  logic signed [28:0] q_quant_code;
  logic [31:0] q_data;
  quantizer quantizer_i (
    .clk(clk), .rst(rst), .settings(settings),
    .in_valid(in_valid & is_open & ~rst), .in_data(in_data),
    .out_valid(q_valid), .out_special(q_special), .out_quant_code(q_quant_code), .out_data(q_data));

  // Where blocks begin and end travels beside the values.
  localparam int QUANTIZER_CYCLES = 28;
  logic [QUANTIZER_CYCLES:1] q_first, q_last;
  logic q_restart;
  always_ff @(posedge clk) begin
    q_first <= {q_first[QUANTIZER_CYCLES-1:1], next_first & in_valid & is_open};
    q_last <= {q_last[QUANTIZER_CYCLES-1:1], is_last};
    q_restart <= q_first[QUANTIZER_CYCLES-1] & restart;
  end

  logic l_valid, l_first, l_last, l_special;
  logic [9:0] l_symbol;
  logic [31:0] l_data;
  lorenzo #(.DIMS(DIMS), .LINE_BITS(LINE_BITS), .PLANE_BITS(PLANE_BITS)) lorenzo_i (
    .clk(clk), .dims(dims), .line_last(line_last), .plane_last(plane_last), .plane_values(plane_values),
    .block_x(start_x), .block_y(start_y),
    .in_valid(q_valid), .in_first(q_first[QUANTIZER_CYCLES]), .in_restart(q_restart), .in_last(q_last[QUANTIZER_CYCLES]),
    .in_special(q_special), .in_quant_code(q_quant_code), .in_data(q_data),
    .out_valid(l_valid), .out_first(l_first), .out_last(l_last), .out_special(l_special),
    .out_symbol(l_symbol), .out_data(l_data));

  logic s_valid, s_first, e_valid, e_special, b_done;
  logic [9:0] s_symbol;
  logic [BLOCK_BITS-1:0] s_index;
  logic [15:0] e_run;
  logic [31:0] e_value;
  logic [BLOCK_BITS:0] b_symbols, b_entries;
  logic [BLOCK_BITS+2:0] b_side_bytes;
  side_stream #(.BLOCK_BITS(BLOCK_BITS)) side_stream_i (
    .clk(clk), .rst(rst), .in_valid(l_valid), .in_first(l_first), .in_last(l_last), .in_special(l_special),
    .in_symbol(l_symbol), .in_data(l_data),
    .symbol_valid(s_valid), .symbol_first(s_first), .symbol(s_symbol), .symbol_index(s_index),
    .entry_valid(e_valid), .entry_special(e_special), .entry_run(e_run), .entry_value(e_value),
    .block_done(b_done), .block_symbols(b_symbols), .block_entries(b_entries),
    .block_side_bytes(b_side_bytes));

  // --- memories between the halves ---------------------------------------------------------------------

  // Which block a symbol belongs to: of those begun, the one that its first symbol opens.
  logic [2:0] s_block, s_block_now;
  assign s_block_now = s_valid & s_first ? s_block + 3'd1 : s_block;
  always_ff @(posedge clk) s_block <= rst ? 3'd7 : s_block_now;

  logic       w_valid;
  logic [9:0] w_symbol;
  logic [BLOCK_BITS+1:0] w_at;
  logic       w_bank;
  always_ff @(posedge clk) begin
    w_valid <= s_valid & ~rst;
    w_symbol <= s_symbol;
    w_at <= {s_block_now[1:0], s_index};
    w_bank <= s_block_now[0];
  end
  logic [BLOCK_BITS+1:0] at0;
  logic [9:0] symbol2;
  block_ram #(.WIDTH(10), .DEPTH(4 * BLOCK)) symbols (
    .clk(clk), .write(w_valid), .write_addr(w_at), .write_data(w_symbol), .read_addr(at0), .read_data(symbol2));

  histogram #(.COUNT_BITS(BLOCK_BITS + 1)) histogram_i (
    .clk(clk), .in_valid(w_valid), .in_bank(w_bank), .in_symbol(w_symbol),
    .read(count_read), .clear_all(count_clear_all), .read_bank(taken_counts[0]), .read_addr(count_addr),
    .read_data(count_data));

  // The histogram's last count is written six cycles after its symbol left side_stream.
  logic [7:1] drains;
  logic [2:0] summed;
  logic       counted1;
  always_ff @(posedge clk) begin
    drains <= rst ? 7'd0 : {drains[6:1], b_done};
    if (rst) begin
      summed <= 3'd0;
      done_blocks <= 3'd0;
      taken_counts <= 3'd0;
    end else begin
      if (b_done) summed <= summed + 3'd1;
      if (drains[7]) done_blocks <= done_blocks + 3'd1;
      if (counts_taken) taken_counts <= taken_counts + 3'd1;
    end
    counted1 <= done_blocks != taken_counts & ~counts_taken;
    counted <= ~rst & counted1 & ~counts_taken;
  end

  // What is known of the blocks. Block memories, since lanes are short of tables rather than of these: what a pointer
  // shows follows it by two cycles.
  logic [2:0] pack_block;
  logic [BLOCK_BITS:0] start_symbols, block_words;
  logic       code_bytes_known;
  logic [BLOCK_BITS+1:0] code_bytes;
  block_ram #(.WIDTH(BLOCK_BITS + 3), .DEPTH(8)) side_bytes_of (
    .clk(clk), .write(b_done), .write_addr(summed), .write_data(b_side_bytes), .read_addr(taken_counts),
    .read_data(counted_side_bytes));
  block_ram #(.WIDTH(BLOCK_BITS + 1), .DEPTH(8)) symbols_of (
    .clk(clk), .write(b_done), .write_addr(summed), .write_data(b_symbols), .read_addr(pack_block),
    .read_data(start_symbols));
  gated_ram #(.WIDTH(3 * BLOCK_BITS + 5), .DEPTH(8)) sums_of (
    .clk(clk), .write(b_done), .write_addr(summed), .write_data({b_symbols, b_entries, b_side_bytes}),
    .enable(1'b1), .read(packed_read), .read_addr(taken_blocks),
    .read_data({packed_symbols, packed_entries, packed_side_bytes}));
  gated_ram #(.WIDTH(BLOCK_BITS + 1), .DEPTH(8)) values_of (
    .clk(clk), .write(opened), .write_addr(opened_block), .write_data(opened_values), .enable(1'b1), .read(packed_read),
    .read_addr(taken_blocks), .read_data(packed_values));
  gated_ram #(.WIDTH(BLOCK_BITS + 2), .DEPTH(8)) code_bytes_of (
    .clk(clk), .write(code_bytes_known), .write_addr(packed_blocks), .write_data(code_bytes), .enable(1'b1),
    .read(packed_read), .read_addr(taken_blocks), .read_data(packed_code_bytes));

  localparam int SIDE_BITS = BLOCK_BITS + 1;
  logic [SIDE_BITS:0] side_written, side_taken;
  adder #(.WIDTH(SIDE_BITS + 2)) side_used_i (
    .clk(clk), .subtract(1'b1), .carry(1'b0), .a({1'b0, side_written}), .b({1'b0, side_taken}), .sum(side_used));
  // In slices: a wide memory would be made of two halves, and a table for each bit to choose between them.
  logic [51:0] side_entry;
  assign {side_special, side_run, side_value} = side_entry[48:0];
  genvar s;
  generate
    for (s = 0; s < 13; s = s + 1) begin : side_slice
      localparam int WIDTH = s == 12 ? 1 : 4;
      gated_ram #(.WIDTH(WIDTH), .DEPTH(1 << SIDE_BITS)) side (
        .clk(clk), .write(e_valid), .write_addr(side_written[SIDE_BITS-1:0]),
        .write_data(WIDTH'({e_special, e_run, e_value} >> (4 * s))), .enable(1'b1), .read(side_read),
        .read_addr(side_taken[SIDE_BITS-1:0]), .read_data(side_entry[4*s+:WIDTH]));
    end
  endgenerate
  assign side_entry[51:49] = 3'd0;
  always_ff @(posedge clk) begin
    if (rst) begin
      side_written <= '0;
      side_taken <= '0;
    end else begin
      if (e_valid) side_written <= side_written + 1'b1;
      if (side_read) side_taken <= side_taken + 1'b1;
    end
  end

  // --- codes -------------------------------------------------------------------------------------------

  localparam int CODE_BITS = BLOCK_BITS;  // words of 32 bits: twice what a block can take
  logic [CODE_BITS:0] code_written;       // of words
  logic [CODE_BITS-WORD_BITS:0] code_taken;  // of `WORDS` words
  logic [CODE_BITS+1:0] code_used;
  logic        packs, code_has_room, bank, ends_code;
  logic [2:0]  untaken_blocks;
  logic        starts_now, started, starts_bank;
  adder #(.WIDTH(CODE_BITS + 2)) code_used_i (
    .clk(clk), .subtract(1'b1), .carry(1'b0), .a({1'b0, code_written}),
    .b({1'b0, code_taken, {WORD_BITS{1'b0}}}), .sum(code_used));
  assign untaken_blocks = distance(pack_block, taken_blocks);
  assign starts_now = codebook_pending & code_has_room & (~packs | ends_code);
  always_ff @(posedge clk) begin
    // Less than half of it, by 16 words and more.
    code_has_room <= ~(|code_used[CODE_BITS:CODE_BITS-1] | &code_used[CODE_BITS-2:4]) & ~untaken_blocks[2] &
                     ~starts_now & ~started;
    started <= starts_now;
    if (rst) begin
      codebook_pending <= 1'b0;
    end else if (codebook_valid) begin
      codebook_pending <= 1'b1;
      starts_bank <= codebook_bank;
    end else if (starts_now) begin
      codebook_pending <= 1'b0;
    end
  end

  // 0: the symbol's place, 1 and 2: the symbol, 3 and 4: its code.
  logic [4:0] pack_valid, pack_first;
  logic [4:1] pack_last;
  countdown #(.WIDTH(BLOCK_BITS + 1), .LESS(1)) codes_left (
    .clk(clk), .load(starts_now), .value(start_symbols), .step(1'b1), .minus_again('0), .left(), .is_last(ends_code));
  logic [1:0] bank_at;
  logic [neve_pkg::ENTRY_BITS-1:0] entry4;
  block_ram #(.WIDTH(neve_pkg::ENTRY_BITS), .DEPTH(2048)) codes (
    .clk(clk), .write(table_write), .write_addr({table_bank, table_addr}), .write_data(table_entry),
    .read_addr({bank_at[1], symbol2}), .read_data(entry4));
  assign packs = pack_valid[0];
  always_ff @(posedge clk) begin
    if (rst) begin
      pack_valid <= 5'd0;
      pack_block <= 3'd0;
    end else begin
      pack_valid <= {pack_valid[3:0], starts_now | (packs & ~ends_code)};
      if (starts_now) pack_block <= pack_block + 3'd1;
    end
    pack_first <= {pack_first[3:0], starts_now};
    pack_last <= {pack_last[3:1], ends_code};
    if (starts_now) begin
      at0 <= {pack_block[1:0], {BLOCK_BITS{1'b0}}};
      bank <= starts_bank;
    end else begin
      at0 <= at0 + 1'b1;
    end
    bank_at <= {bank_at[0], bank};
  end

  logic word_valid, word_last;
  logic [4:0] word_bits;
  logic [31:0] word;
  packer packer_i (
    .clk(clk), .rst(rst), .in_valid(pack_valid[4]), .in_first(pack_first[4]), .in_last(pack_last[4]),
    .in_entry(entry4), .word_valid(word_valid), .word_last(word_last), .word_bits(word_bits), .word(word));

  genvar w;
  generate
    for (w = 0; w < WORDS; w = w + 1) begin : bank_of
      logic        is_here;
      assign is_here = code_written[WORD_BITS-1:0] == WORD_BITS'(w);
      gated_ram #(.WIDTH(32), .DEPTH(BLOCK / WORDS)) words (
        .clk(clk), .write(word_valid & is_here), .write_addr(code_written[CODE_BITS-1:WORD_BITS]),
        .write_data(word), .enable(1'b1), .read(codes_read),
        .read_addr(code_taken[CODE_BITS-WORD_BITS-1:0]), .read_data(codes_data[32*w+:32]));
    end
  endgenerate

  logic [2:0]  last_bytes;           // of the last word
  logic [BLOCK_BITS:0] last_words;   // before it
  logic        ended;
  logic        packed1;
  always_ff @(posedge clk) begin
    ended <= ~rst & word_valid & word_last;
    last_words <= block_words;
    last_bytes <= word_bits == 0 ? 3'd4 : 3'(({1'b0, word_bits} + 6'd7) >> 3);
    code_bytes_known <= ended & ~rst;
    code_bytes <= {last_words[BLOCK_BITS-1:0], 2'b0} + {{(BLOCK_BITS-1){1'b0}}, last_bytes};
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      code_written <= '0;
      code_taken <= '0;
      packed_blocks <= 3'd0;
      taken_blocks <= 3'd0;
    end else begin
      // A block begins where a read begins.
      if (word_valid & word_last) code_written[WORD_BITS-1:0] <= '0;
      else if (word_valid) code_written[WORD_BITS-1:0] <= code_written[WORD_BITS-1:0] + 1'b1;
      if (word_valid & (word_last | &code_written[WORD_BITS-1:0]))
        code_written[CODE_BITS:WORD_BITS] <= code_written[CODE_BITS:WORD_BITS] + 1'b1;
      if (code_bytes_known) packed_blocks <= packed_blocks + 3'd1;
      if (codes_read) code_taken <= code_taken + 1'b1;
      if (packed_taken) taken_blocks <= taken_blocks + 3'd1;
    end
    if (rst | (word_valid & word_last)) block_words <= '0;
    else if (word_valid) block_words <= block_words + 1'b1;
    packed1 <= packed_blocks != taken_blocks & ~packed_taken;
    packed_valid <= ~rst & packed1 & ~packed_taken;
  end
endmodule
