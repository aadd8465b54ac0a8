// SPDX-License-Identifier: BSD-3-Clause
// Canonical codes back to symbols. A code of up to SHORT bits takes a cycle: its length stands in a table, by the bits
// that come next. A longer one takes two, or three from SHORT + 8 bits on: the first SHORT bits go, while comparisons
// with where the codes of each length end say how many bits are left. The symbol is looked up behind that loop.
//
// A codebook comes as the lengths of symbols 0 to 1023, while codes of the one before are decoded; its symbols are put
// in order of their codes. About 2,090 cycles, and 130 when a block takes it over.
module code_decoder #(
    parameter int BLOCK_BITS = 16  // blocks of at most 2^BLOCK_BITS symbols
) (
    input  logic                             clk,
    input  logic                             rst,
    // The next codebook, when the one before has been taken over: `load`, then 1024 lengths.
    input  logic                             load,
    output logic                             load_ready,
    input  logic                             length_valid,
    output logic                             length_ready,
    input  logic [ neve_pkg::LENGTH_BITS-1:0] length,
    output logic                             loaded,        // until a block takes it over
    output logic                             complete,      // with loaded: its codes fill the code space, or it has one symbol
    // Codes of a block, the first bit lowest; what is left of the word before is dropped.
    input  logic                             start,
    input  logic                             takes_codebook, // with start: the next one is in force from here on
    input  logic [             BLOCK_BITS:0] symbols,       // of the block
    input  logic [           BLOCK_BITS+1:0] code_bytes,
    input  logic                             word_valid,
    output logic                             word_ready,
    input  logic [                     31:0] word,
    output logic                             symbol_valid,
    input  logic                             symbol_ready,
    output logic [ neve_pkg::SYMBOL_BITS-1:0] symbol,
    output logic                             symbol_is_escape,
    output logic                             done,          // all symbols of the block have been given
    output logic                             left_over,     // with done: bytes behind the last code
    output logic                             failed         // no code, or fewer bytes than codes; until the next start
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam int B = neve_pkg::MAX_CODE_BITS;
  localparam int SHORT = 6;

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] CLEAR = 3'd1;
  localparam logic [2:0] TAKE = 3'd2;
  localparam logic [2:0] ORDER = 3'd3;
  localparam logic [2:0] PLACE = 3'd4;
  localparam logic [2:0] COUNT = 3'd5;
  localparam logic [2:0] ENDS = 3'd6;
  localparam logic [2:0] FILL = 3'd7;
  logic [2:0] state;

  // --- the next codebook: its symbols in order ---------------------------------------------------------------------
  logic bank;  // of the codebook in force
  logic [S:0] at;  // symbol or, from COUNT on, length

  // How many codes of each length, that of 16 at 0; then where the next of them is placed, and so where they end.
  logic [S:0] counts[1 << (L - 1)];
  logic [L-2:0] row;
  logic [S:0] count;
  assign count = counts[row];
  logic takes;  // the length at `row` is that of one more symbol
  logic [2:0] is_placed;
  logic [S-1:0] placed_symbol[3];
  logic [L-1:0] placed_length;
  logic places;
  assign length_ready = state == TAKE && !at[S];
  logic [S:0] order;  // codes shorter than those of the length at hand
  always_ff @(posedge clk) begin
    takes <= length_ready && length_valid && length != '0;
    places <= is_placed[1] && placed_length != '0;
    if (state == CLEAR) counts[row] <= '0;
    else if (state == ORDER) counts[row] <= order;
    else if (takes || places) counts[row] <= count + (S + 1)'(1);
  end

  block_ram #(
      .WIDTH(L),
      .DEPTH(neve_pkg::SYMBOLS)
  ) lengths (
      .clk,
      .write(length_ready && length_valid),
      .write_addr(at[S-1:0]),
      .write_data(length),
      .read_addr(at[S-1:0]),
      .read_data(placed_length)
  );

  // The code space that is filled, in codes of 16 bits; and whether there is more than one symbol.
  logic [S+B-1:0] filled;
  logic has_one, has_more_than_one;
  assign complete = filled == (S + B)'(1 << B) || (filled == (S + B)'(1 << (B - 1)) && !has_more_than_one);
  always_ff @(posedge clk) begin
    if (takes) begin
      filled <= filled + (row == '0 ? (S + B)'(1) : (S + B)'(1 << B) >> row);
      has_one <= 1'b1;
      has_more_than_one <= has_one;
    end
    if (state == CLEAR) begin
      filled <= '0;
      has_one <= 1'b0;
      has_more_than_one <= 1'b0;
    end
  end

  // --- the codebook in force ---------------------------------------------------------------------------------------
  // Of each length, that of 16 at 0: what leads from a code to its place in the order.
  logic [S-1:0] shifts[1 << (L - 1)];
  // Of codes longer than SHORT: the one behind the last of their length.
  logic [B:0] ends[SHORT+1:B];
  // By the next bits: whether the code is longer than SHORT; how many bits are its, or SHORT.
  logic [3:0] short_lengths[1 << SHORT];
  logic [SHORT:0] fill_at, fill_end;
  logic [L-1:0] length_at;
  logic [S:0] counted;
  logic [B:0] first, code_end;
  logic is_short_at;
  assign length_at = at[L-1:0];
  assign is_short_at = length_at <= L'(SHORT);
  assign code_end = first + (B + 1)'(counted);
  always_ff @(posedge clk) begin
    if (state == ENDS) shifts[row] <= order[S-1:0] - first[S-1:0];
    for (int l = SHORT + 1; l <= B; l++) begin
      if (state == ENDS && length_at == L'(l)) ends[l] <= code_end;
    end
    if (state == FILL && fill_at != fill_end) short_lengths[fill_at[SHORT-1:0]] <= is_short_at ? {1'b0, length_at[2:0]} : {1'b1, 3'(SHORT)};
  end

  logic begins;  // codes of a block
  assign load_ready = state == IDLE && !loaded;
  always_ff @(posedge clk) begin
    begins <= 1'b0;
    is_placed <= {is_placed[1:0], 1'b0};
    placed_symbol[0] <= at[S-1:0];
    placed_symbol[1] <= placed_symbol[0];
    placed_symbol[2] <= placed_symbol[1];
    unique case (state)
      CLEAR: begin
        row <= row + (L - 1)'(1);
        if (row == '1) state <= TAKE;
      end
      TAKE: begin
        row <= length[L-2:0];
        if (length_valid && length_ready) at <= at + (S + 1)'(1);
        if (at[S]) begin
          row <= (L - 1)'(1);
          state <= ORDER;
        end
        order <= '0;
      end
      ORDER: begin
        order <= order + count;
        row <= row + (L - 1)'(1);
        if (row == '0) begin
          at <= '0;
          state <= PLACE;
        end
      end
      PLACE: begin
        row <= placed_length[L-2:0];
        is_placed[0] <= !at[S];
        if (!at[S]) at <= at + (S + 1)'(1);
        else if (is_placed == '0) begin
          loaded <= 1'b1;
          state <= IDLE;
        end
      end
      COUNT: begin
        counted <= count - order;
        state <= ENDS;
      end
      ENDS: begin
        first <= code_end << 1;
        order <= order + counted;
        // Short codes up to the last of this length; behind them all that are longer.
        fill_end <= is_short_at ? (SHORT + 1)'(code_end << (L'(SHORT) - length_at)) : (SHORT + 1)'(1 << SHORT);
        state <= FILL;
      end
      FILL: begin
        if (fill_at != fill_end) begin
          fill_at <= fill_at + (SHORT + 1)'(1);
        end else begin
          at <= at + (S + 1)'(1);
          row <= row + (L - 1)'(1);
          state <= COUNT;
          if (length_at == L'(B)) begin
            begins <= 1'b1;
            state <= IDLE;
          end
        end
      end
      default: ;
    endcase
    if (load && load_ready) begin
      loaded <= 1'b0;
      at <= '0;
      row <= '0;
      state <= CLEAR;
    end
    if (start) begin
      if (takes_codebook) begin
        bank <= !bank;
        loaded <= 1'b0;
        at <= (S + 1)'(1);
        row <= (L - 1)'(1);
        order <= '0;
        first <= '0;
        fill_at <= '0;
        state <= COUNT;
      end else begin
        begins <= 1'b1;
      end
    end
    if (rst) begin
      loaded <= 1'b0;
      is_placed <= '0;
      begins <= 1'b0;
      bank <= 1'b0;
      state <= IDLE;
    end
  end

  // --- bits --------------------------------------------------------------------------------------------------------
  // The next bits, the first one highest, zeros behind them; filled by bytes.
  localparam int W = 32;
  logic runs, has_more, has_bytes;
  logic [BLOCK_BITS:0] left;  // symbols to find
  logic [BLOCK_BITS+1:0] bytes_left;
  logic [31:0] bytes;
  logic [2:0] byte_count;
  logic [W-1:0] bits;
  logic [6:0] bit_count;  // its highest bit: fewer than none
  logic inserts, has_enough;
  assign word_ready = runs && byte_count == '0 && has_bytes;
  // At most 24 and at least 16 of the 32, without a carry.
  assign inserts = !bit_count[5] && !(&bit_count[4:3] && bit_count[2:0] != '0) && byte_count != '0;
  assign has_enough = bit_count[5:4] != '0 || !has_bytes;
  logic [7:0] next_byte;
  logic [W-1:0] inserted;
  always_comb begin
    for (int i = 0; i < 8; i++) next_byte[7-i] = bytes[i];
    inserted = inserts ? {next_byte, (W - 8)'(0)} >> bit_count[4:0] : '0;
  end

  // --- codes -------------------------------------------------------------------------------------------------------
  logic has_room;  // for one more symbol that is under way
  logic is_long;
  logic [2:0] short_length, taken;
  // Bits of a longer code that are still there, as many as a cycle takes and those behind them.
  logic rests;
  logic [2:0] rest, rest_found;
  logic [1:0] rest_behind, rest_behind_found;
  logic no_code, begins_code;
  assign {is_long, short_length} = short_lengths[bits[W-1-:SHORT]];
  assign begins_code = has_more && !rests && has_enough && has_room;
  assign taken = rests ? rest : begins_code ? short_length : 3'd0;

  // Lengths whose codes end behind the next bits.
  logic [B:SHORT+1] below;
  always_comb begin
    for (int l = SHORT + 1; l <= B; l++) below[l] = {1'b0, bits[W-1-:B] >> (B - l)} < ends[l];
    rest_found = below[10] ? (below[8] ? (below[7] ? 3'd1 : 3'd2) : (below[9] ? 3'd3 : 3'd4)) :
        below[12] ? (below[11] ? 3'd5 : 3'd6) : 3'd7;
    rest_behind_found = below[14] ? (below[13] ? 2'd0 : 2'd1) : below[15] ? 2'd2 : 2'd3;
  end

  always_ff @(posedge clk) begin
    if (word_ready && word_valid) begin
      bytes <= word;
      byte_count <= 3'd4;
    end else if (inserts) begin
      bytes <= bytes >> 8;
      byte_count <= byte_count - 3'd1;
      bytes_left <= bytes_left - (BLOCK_BITS + 2)'(1);
      has_bytes <= bytes_left != (BLOCK_BITS + 2)'(1);
      // Of the last word only what belongs to the codes.
      if (bytes_left == (BLOCK_BITS + 2)'(1)) byte_count <= '0;
    end
    bits <= (bits | inserted) << taken;
    bit_count <= bit_count + (inserts ? 7'd8 : 7'd0) - 7'(taken);
    no_code <= begins_code && is_long && !below[B];
    rest <= rests ? 3'(rest_behind) : rest_found;
    rest_behind <= rests ? '0 : rest_behind_found;
    rests <= rests ? rest_behind != '0 : begins_code && is_long;
    if (begins_code) begin
      left <= left - (BLOCK_BITS + 1)'(1);
      has_more <= left != (BLOCK_BITS + 1)'(1);
    end
    if (no_code || bit_count[6]) begin
      failed <= 1'b1;
      has_more <= 1'b0;
      rests <= 1'b0;
    end
    if (begins) begin
      runs <= 1'b1;
      has_more <= left != '0;
      has_bytes <= bytes_left != '0;
    end
    if (start) begin
      runs <= 1'b0;
      has_more <= 1'b0;
      has_bytes <= 1'b0;
      left <= symbols;
      bytes_left <= code_bytes;
      byte_count <= '0;
      bits <= '0;
      bit_count <= '0;
      rests <= 1'b0;
      no_code <= 1'b0;
      failed <= 1'b0;
    end
    if (rst) begin
      runs <= 1'b0;
      has_more <= 1'b0;
      has_bytes <= 1'b0;
      byte_count <= '0;
      bit_count <= '0;
      rests <= 1'b0;
      no_code <= 1'b0;
      failed <= 1'b0;
    end
  end

  // --- symbols -----------------------------------------------------------------------------------------------------
  // 1: the code at the front of what follows it; 2: its length; 3: the code alone; 4: its place in the order, whose
  // symbol is there two cycles later.
  logic [6:1] valid;
  logic [B-1:0] code1, code2;
  logic is_long1;
  logic [2:0] short1;
  logic [L-1:0] length2;
  logic [S-1:0] code3, shift3, place4, symbol6;
  always_ff @(posedge clk) begin
    valid <= {valid[5:1], begins_code};
    code1 <= bits[W-1-:B];
    is_long1 <= is_long;
    short1 <= short_length;
    code2 <= code1;
    length2 <= L'(short1) + (is_long1 ? L'(rest) + L'(rest_behind) : L'(0));
    code3 <= S'(code2 >> (L'(B) - length2));
    shift3 <= shifts[length2[L-2:0]];
    place4 <= code3 + shift3;
    if (start || rst) valid <= '0;
  end
  block_ram #(
      .WIDTH(S),
      .DEPTH(2 * neve_pkg::SYMBOLS)
  ) ordered (
      .clk,
      .write(places),
      .write_addr({!bank, count[S-1:0]}),
      .write_data(placed_symbol[2]),
      .read_addr({bank, place4}),
      .read_data(symbol6)
  );

  // Symbols on their way, and those that wait: no more than the queue holds.
  localparam int QUEUE = 16;
  localparam int Q = $clog2(QUEUE) + 1;
  logic [Q-1:0] under_way;
  logic queue_valid, gives;
  logic [S:0] queued;
  logic valid7;
  logic [S:0] symbol7;
  always_ff @(posedge clk) begin
    valid7 <= valid[6] && !start && !rst;
    symbol7 <= {symbol6 == S'(neve_pkg::ESCAPE), symbol6};
  end
  /* verilator lint_off UNUSEDSIGNAL */
  logic queue_has_room;  // always, when a symbol comes
  /* verilator lint_on UNUSEDSIGNAL */
  symbol_queue #(
      .WIDTH(S + 1),
      .DEPTH(QUEUE)
  ) waiting (
      .clk,
      .rst(rst || start),
      .in_valid(valid7),
      .in_ready(queue_has_room),
      .in_data(symbol7),
      .out_valid(queue_valid),
      .out_ready(symbol_ready),
      .out_data(queued)
  );
  assign symbol_valid = queue_valid;
  assign {symbol_is_escape, symbol} = queued;
  assign gives = symbol_valid && symbol_ready;
  always_ff @(posedge clk) begin
    under_way <= under_way + Q'(begins_code) - Q'(gives);
    has_room <= under_way < Q'(QUEUE - 2);
    if (start || rst) under_way <= '0;
  end
  assign done = runs && !has_more && under_way == '0;
  assign left_over = has_bytes || bit_count >= 7'd8;
endmodule
