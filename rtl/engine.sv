// SPDX-License-Identifier: BSD-3-Clause
// The streaming compression engine: LANES lanes, each with an input of its own; one output, a Neve stream.
//
// Blocks of the stream go to the lanes in turn; those that the lanes have at a time are a round. What happens
// to a round: its values become symbols and counts; counts of all lanes are summed; its book is chosen by them;
// the lanes' tables are loaded; symbols become codes; the framer emits the blocks. Each step is at another
// round. A book of the stream's own is built, in the background, from the counts of `build_rounds` rounds, and is
// on offer from the third round after them on: always from the same round, however long anything waits.
module engine #(
  parameter int LANES = 1,          // 1 to 64
  parameter int BLOCK_BITS = 12,    // blocks of at most 2^BLOCK_BITS values, 8 to 16
  parameter int DIMS = 3,
  parameter int LINE_BITS = 12,
  parameter int PLANE_BITS = 12,
  parameter int BYTES = 16          // of a word of output: 8, 16 or 32
) (
  input  logic        clk,
  input  logic        rst,

  // Registers (docs/hardware.md); written while the engine is idle.
  input  logic        reg_write,
  input  logic [9:0]  reg_addr,
  input  logic [31:0] reg_data,
  output logic        busy,
  output logic [5:0]  rung,         // the bound in force

  // AXI4-Stream: float32 values of each lane's blocks, block after block.
  input  logic [LANES-1:0] s_axis_tvalid,
  output logic [LANES-1:0] s_axis_tready,
  input  logic [32*LANES-1:0] s_axis_tdata,

  // AXI4-Stream: the bytes of the stream, without gaps.
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic [8*BYTES-1:0] m_axis_tdata,
  output logic [BYTES-1:0] m_axis_tkeep,
  output logic        m_axis_tlast,

  // A round's choice, for those who watch.
  output logic        chosen,
  output logic [1:0]  chosen_book,
  output logic [3:0]  chosen_offline_book
);
  localparam int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1;
  localparam int COUNT_BITS = neve_pkg::COUNT_BITS;
  localparam int ENTRY_BITS = neve_pkg::ENTRY_BITS;

  // --- registers ---------------------------------------------------------------------------------------

  localparam logic [9:0] REG_START = 10'h00, REG_MODE = 10'h01, REG_LINE_LAST = 10'h02, REG_PLANE_LAST = 10'h03,
                         REG_PLANE_VALUES = 10'h04, REG_BLOCK_X = 10'h05, REG_BLOCK_Y = 10'h06,
                         REG_BLOCK_VALUES = 10'h07, REG_TOTAL_LOW = 10'h08, REG_TOTAL_HIGH = 10'h09,
                         REG_FILL = 10'h0a, REG_HEADER_WORDS = 10'h0b, REG_CHI_KEEP = 10'h0c,
                         REG_CHI_OFFLINE = 10'h0d, REG_BUILD_ROUNDS = 10'h0e, REG_TARGET = 10'h0f,
                         REG_RUNGS = 10'h10;
  localparam logic [2:0] PAGE_HEADER = 3'd1;  // 0x080: words of the stream header
  // 0x200: rungs of 8 words: S, I, t, and B as float64 with the low word first.

  logic        start;
  logic [1:0]  dims, rule;
  logic [2:0]  table_shift;   // a table's cost counts as if 2^table_shift rounds shared it
  logic        has_fill, restarts, holds_ratio;
  logic [15:0] line_last, plane_last, block_x_step, block_y_step;
  logic [PLANE_BITS:0] plane_values;
  logic [BLOCK_BITS:0] block_values;
  logic [47:0] total;
  logic [31:0] fill, chi_keep, chi_offline, target;
  logic [6:0]  header_words;
  logic [15:0] build_rounds;
  logic [5:0]  first_rung, last_rung;
  logic [4:0]  gain_shift;
  logic [31:0] ladder [0:511];
  always_ff @(posedge clk) begin
    start <= ~rst & reg_write & reg_addr == REG_START;
    if (reg_write) begin
      case (reg_addr)
        REG_MODE: begin
          dims <= reg_data[1:0];
          rule <= reg_data[5:4];
          has_fill <= reg_data[8];
          restarts <= reg_data[9] | (LANES > 1);
          holds_ratio <= reg_data[10];
          table_shift <= reg_data[14:12];
        end
        REG_LINE_LAST: line_last <= reg_data[15:0];
        REG_PLANE_LAST: plane_last <= reg_data[15:0];
        REG_PLANE_VALUES: plane_values <= reg_data[PLANE_BITS:0];
        REG_BLOCK_X: block_x_step <= reg_data[15:0];
        REG_BLOCK_Y: block_y_step <= reg_data[15:0];
        REG_BLOCK_VALUES: block_values <= reg_data[BLOCK_BITS:0];
        REG_TOTAL_LOW: total[31:0] <= reg_data;
        REG_TOTAL_HIGH: total[47:32] <= reg_data[15:0];
        REG_FILL: fill <= reg_data;
        REG_HEADER_WORDS: header_words <= reg_data[6:0];
        REG_CHI_KEEP: chi_keep <= reg_data;
        REG_CHI_OFFLINE: chi_offline <= reg_data;
        REG_BUILD_ROUNDS: build_rounds <= reg_data[15:0];
        REG_TARGET: target <= reg_data;
        REG_RUNGS: {gain_shift, last_rung, first_rung} <= {reg_data[20:16], reg_data[13:8], reg_data[5:0]};
        default: ;
      endcase
    end
    if (reg_write & reg_addr[9]) ladder[reg_addr[8:0]] <= reg_data;
  end

  // --- settings of a rung ------------------------------------------------------------------------------

  // The eight words of a rung, then the 32 limits: t in places of ever higher exponents (quantizer.sv).
  logic        loads, loaded;
  logic [5:0]  load_at;
  logic [31:0] ladder_word;
  logic [31:0] step;
  logic [30:0] inverse, tolerance;
  logic [27:0] limit;
  logic [4:0]  limit_at;
  logic        limit_write, load_start;
  logic        has_step, is_power;
  logic [8:0]  inverse_shift;
  logic [2:0]  tolerance_above;
  always_ff @(posedge clk) begin
    ladder_word <= ladder[{rung, load_at[2:0]}];
    loaded <= 1'b0;
    limit_write <= 1'b0;
    if (rst) begin
      loads <= 1'b0;
    end else if (load_start) begin
      loads <= 1'b1;
      load_at <= 6'd0;
    end else if (loads) begin
      load_at <= load_at + 6'd1;
      case (load_at)
        6'd1: step <= ladder_word;
        6'd2: inverse <= ladder_word[30:0];
        6'd3: tolerance <= ladder_word[30:0];
        6'd4: begin
          has_step <= |step[30:23];
          is_power <= {1'b0, step[30:23]} + {1'b0, inverse[30:23]} == 9'd254;
          inverse_shift <= 9'd277 - {1'b0, inverse[30:23]};
          tolerance_above <= 3'd3 + tolerance[25:23] - step[25:23];
        end
        6'd5: limit <= {4'b0, 1'b1, tolerance[22:0]} << tolerance_above;
        default: begin
          limit_write <= load_at < 6'd38;
          limit_at <= load_at[4:0] - 5'd6;
          if (limit_write) limit <= limit >> 1;
          if (load_at == 6'd40) begin
            loads <= 1'b0;
            loaded <= 1'b1;
          end
        end
      endcase
    end
  end

  // --- blocks to lanes ---------------------------------------------------------------------------------

  localparam logic [2:0] IDLE = 3'd0, CLEAR = 3'd1, ROUND = 3'd2, ASK = 3'd3, DRAIN = 3'd4, LOAD = 3'd5,
                         DEAL = 3'd6, FINISH = 3'd7;
  logic [2:0]  state;
  logic [10:0] clear_at;
  logic        lane_rst, clears;
  logic [47:0] left;
  logic [15:0] x, y, x_next, y_next;
  logic [16:0] x_sum, y_sum, y_carried;
  logic [LANES-1:0] deals_to;
  logic        is_first, has_new_step;
  logic [LANES-1:0] block_ready, lane_empty;
  logic        deals_now, block_is_last;
  logic [BLOCK_BITS:0] values_now;
  logic [6:0]  dealt_lanes;
  logic        all_empty, asks, answered, start_framer;
  logic [5:0]  next_rung;

  // What later steps need to know of a round, by its number modulo 8. Rounds are counted modulo 16: no more than 7 are
  // on their way.
  logic [6:0]  round_lanes [0:7];
  logic        round_is_last [0:7];
  logic        round_has_step [0:7];
  logic [5:0]  round_rung [0:7];
  logic [3:0]  dealt_rounds, booked_rounds, framed_rounds;
  logic        has_framed;
  logic        has_slot;

  assign block_is_last = ~|left[47:BLOCK_BITS+1] & left[BLOCK_BITS:0] <= block_values;
  assign values_now = block_is_last ? left[BLOCK_BITS:0] : block_values;
  assign deals_now = state == DEAL & |(deals_to & block_ready);
  assign lane_rst = rst | (state == CLEAR & clear_at < 11'd64);
  assign clears = state == CLEAR & clear_at >= 11'd1024;
  assign busy = state != IDLE;
  assign load_start = state == DRAIN & all_empty;
  assign asks = state == ROUND & has_slot & holds_ratio;
  assign start_framer = state == CLEAR & &clear_at;
  // Where the next block stands: a block further.
  assign x_sum = {1'b0, x} + {1'b0, block_x_step};
  assign x_next = x_sum > {1'b0, line_last} ? 16'(x_sum - {1'b0, line_last} - 17'd1) : x_sum[15:0];
  assign y_sum = {1'b0, y} + {1'b0, block_y_step};
  assign y_carried = y_sum + (x_sum > {1'b0, line_last} ? 17'd1 : 17'd0);
  assign y_next = y_carried > {1'b0, plane_last} ? 16'(y_carried - {1'b0, plane_last} - 17'd1) : y_carried[15:0];
  always_ff @(posedge clk) begin
    all_empty <= &lane_empty & state == DRAIN;
    has_slot <= 4'(dealt_rounds - framed_rounds) < 4'd7;
    if (rst) begin
      state <= IDLE;
    end else begin
      case (state)
        IDLE: begin
          clear_at <= 11'd0;
          left <= total;
          x <= 16'd0;
          y <= 16'd0;
          dealt_rounds <= 4'd0;
          is_first <= 1'b1;
          rung <= first_rung;
          if (start) state <= CLEAR;
        end
        CLEAR: begin
          clear_at <= clear_at + 11'd1;
          if (&clear_at) state <= DRAIN;
        end
        ROUND: begin
          // A bound follows from the round before the last; it changes where no value is inside.
          deals_to <= LANES'(1);
          dealt_lanes <= 7'd1;
          has_new_step <= 1'b0;
          if (has_slot) state <= holds_ratio ? ASK : DEAL;
        end
        ASK: if (answered) begin
          rung <= next_rung;
          state <= next_rung != rung ? DRAIN : DEAL;
        end
        DRAIN: if (all_empty) state <= LOAD;
        LOAD: begin
          has_new_step <= 1'b1;
          deals_to <= LANES'(1);
          dealt_lanes <= 7'd1;
          if (loaded) state <= DEAL;
        end
        DEAL: if (deals_now) begin
          is_first <= 1'b0;
          deals_to <= deals_to << 1;
          dealt_lanes <= dealt_lanes + 7'd1;
          left <= left - 48'(block_values);  // of the last one nothing is left
          x <= x_next;
          y <= y_next;
          if (deals_to[LANES-1] | block_is_last) begin
            dealt_rounds <= dealt_rounds + 4'd1;
            state <= block_is_last ? FINISH : ROUND;
          end
        end
        FINISH: if (m_axis_tvalid & m_axis_tready & m_axis_tlast) state <= IDLE;
        default: state <= IDLE;
      endcase
    end
    if (deals_now) begin
      round_lanes[dealt_rounds[2:0]] <= dealt_lanes;
      round_is_last[dealt_rounds[2:0]] <= block_is_last;
      round_has_step[dealt_rounds[2:0]] <= has_new_step;
      round_rung[dealt_rounds[2:0]] <= rung;
    end
  end

  // --- lanes -------------------------------------------------------------------------------------------

  logic [LANES-1:0] counted, counts_taken, book_pending, book_valid;
  logic        count_read, book_bank;
  logic [9:0]  count_addr;
  logic [LANES-1:0] active;                 // in the round that the books are at
  logic [LANES*(BLOCK_BITS+1)-1:0] count_data;
  logic [LANES*(BLOCK_BITS+3)-1:0] counted_side_bytes;
  logic        table_write, table_bank;
  logic [9:0]  table_addr;
  logic [ENTRY_BITS-1:0] table_entry;
  logic [LANES-1:0] packed_valid, packed_taken, packed_read, codes_read, side_read;
  logic [LANES*(BLOCK_BITS+1)-1:0] packed_values, packed_symbols, packed_entries;
  logic [LANES*(BLOCK_BITS+3)-1:0] packed_side_bytes;
  logic [LANES*(BLOCK_BITS+2)-1:0] packed_code_bytes;
  logic [LANES*8*BYTES-1:0] codes_data;
  logic [LANES*49-1:0] side_entry;
  genvar l;
  generate
    for (l = 0; l < LANES; l = l + 1) begin : lanes
      lane #(.BLOCK_BITS(BLOCK_BITS), .DIMS(DIMS), .LINE_BITS(LINE_BITS), .PLANE_BITS(PLANE_BITS),
             .WORDS(BYTES / 4)) lane_i (
        .clk(clk), .rst(lane_rst),
        .has_step(has_step), .inverse({1'b1, inverse[22:0]}), .inverse_shift(inverse_shift),
        .step({1'b1, step[22:0]}), .step_exponent(step[30:23]), .is_power(is_power),
        .has_fill(has_fill), .fill(fill),
        .limit_write(limit_write), .limit_addr(limit_at), .limit_data(limit),
        .dims(dims), .line_last(line_last), .plane_last(plane_last), .plane_values(plane_values),
        .empty(lane_empty[l]),
        .block_valid(state == DEAL & deals_to[l]), .block_ready(block_ready[l]), .block_values(values_now),
        .block_restart(restarts | is_first | (has_new_step & l == 0)), .block_x(x), .block_y(y),
        .in_valid(s_axis_tvalid[l]), .in_ready(s_axis_tready[l]), .in_data(s_axis_tdata[32*l+:32]),
        .counted(counted[l]), .counts_taken(counts_taken[l]), .count_read((count_read & active[l]) | clears),
        .count_clear_all(clears), .count_addr(clears ? clear_at[9:0] : count_addr),
        .count_data(count_data[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .counted_side_bytes(counted_side_bytes[(BLOCK_BITS+3)*l+:BLOCK_BITS+3]),
        .book_valid(book_valid[l]), .book_bank(book_bank), .book_pending(book_pending[l]),
        .table_write(table_write), .table_bank(table_bank), .table_addr(table_addr), .table_entry(table_entry),
        .packed_valid(packed_valid[l]), .packed_taken(packed_taken[l]), .packed_read(packed_read[l]),
        .packed_values(packed_values[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .packed_symbols(packed_symbols[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .packed_entries(packed_entries[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .packed_side_bytes(packed_side_bytes[(BLOCK_BITS+3)*l+:BLOCK_BITS+3]),
        .packed_code_bytes(packed_code_bytes[(BLOCK_BITS+2)*l+:BLOCK_BITS+2]),
        .codes_read(codes_read[l]), .codes_data(codes_data[8*BYTES*l+:8*BYTES]), .side_read(side_read[l]),
        .side_special(side_entry[49*l+48]), .side_run(side_entry[49*l+32+:16]),
        .side_value(side_entry[49*l+:32]));
    end
  endgenerate

  // --- books -------------------------------------------------------------------------------------------

  localparam logic [2:0] BOOK_WAIT = 3'd0, BOOK_MERGE = 3'd1, BOOK_BUILD = 3'd2, BOOK_OFFER = 3'd3,
                         BOOK_CHOOSE = 3'd4, BOOK_LOAD = 3'd5, BOOK_TELL = 3'd6;
  logic [2:0]  book_state;
  logic [6:0]  lanes_now;
  logic [9:0]  merge_at;
  logic        merges;
  logic        sum_valid, all_counted, side_sum_valid;
  logic [COUNT_BITS-1:0] sum;
  logic [28:0] side_sum;
  integer i;
  assign lanes_now = round_lanes[booked_rounds[2:0]];
  always_comb begin
    for (i = 0; i < LANES; i = i + 1) active[i] = 7'(i) < lanes_now;
  end
  logic [2:1] reads;  // counts two cycles after their address
  adder_tree #(.N(LANES), .BITS(BLOCK_BITS + 1), .SUM_BITS(COUNT_BITS)) count_sum (
    .clk(clk), .in_valid(reads[2]), .takes(active), .in(count_data), .out_valid(sum_valid), .out(sum));
  adder_tree #(.N(LANES), .BITS(BLOCK_BITS + 3), .SUM_BITS(29)) side_bytes_sum (
    .clk(clk), .in_valid(all_counted & book_state == BOOK_WAIT), .takes(active),
    .in(counted_side_bytes), .out_valid(side_sum_valid), .out(side_sum));

  // Counts of the round, and of all rounds since the last build began, in two banks.
  logic [COUNT_BITS-1:0] round_counts [0:1023];
  logic [COUNT_BITS-1:0] group_counts [0:2047];
  logic [COUNT_BITS-1:0] group_read, sum1, choice_count, build_count;
  logic [9:0]  sum_at, sum_at1, choice_addr, build_addr;
  logic        sum_valid1, group_bank, group_begins, build_bank, sum_ends;
  logic [15:0] group_rounds;
  logic [28:0] side_bytes_now;
  always_ff @(posedge clk) begin
    reads <= {reads[1], count_read & book_state == BOOK_MERGE};
    sum_valid1 <= sum_valid;
    sum1 <= sum;
    sum_at1 <= sum_at;
    if (book_state == BOOK_WAIT) sum_at <= 10'd0;
    else if (sum_valid) sum_at <= sum_at + 10'd1;
    group_read <= group_counts[{group_bank, sum_at}];
    if (sum_valid1) begin
      round_counts[sum_at1] <= sum1;
      group_counts[{group_bank, sum_at1}] <= group_begins ? sum1 : group_read + sum1;
    end
    sum_ends <= sum_valid1 & &sum_at1;
    choice_count <= round_counts[choice_addr];
    build_count <= group_counts[{build_bank, build_addr}];
    if (side_sum_valid) side_bytes_now <= side_sum;
  end

  // The builder counts symbols that did not occur as if they had once: its book serves rounds to come.
  logic        build_start, build_done, entry_write, built;
  logic [9:0]  entry_addr;
  logic [ENTRY_BITS-1:0] entry_data;
  codebook_builder builder (
    .clk(clk), .rst(lane_rst), .start(build_start), .count_addr(build_addr),
    .count_data(|build_count ? build_count : COUNT_BITS'(1)), .entry_write(entry_write),
    .entry_addr(entry_addr), .entry_data(entry_data), .busy(), .done(build_done));

  logic        write_start, write_waits, word_valid, write_busy, write_done;
  logic [9:0]  length_addr;
  logic [31:0] word_data;
  logic [10:0] book_bytes;
  logic [3:0]  own_pending;  // rounds with a book of their own that the framer has yet to emit
  logic [4:0]  written_length;
  codebook_writer writer (
    .clk(clk), .rst(lane_rst), .start(write_start), .length_addr(length_addr), .length_data(written_length),
    .word_valid(word_valid), .word_data(word_data), .byte_count(book_bytes), .busy(write_busy),
    .done(write_done));

  logic [ENTRY_BITS-1:0] built_entries [0:1023];
  logic [ENTRY_BITS-1:0] built_entry;
  logic [4:0]  built_lengths [0:1023];
  logic [4:0]  kept_lengths [0:1023];
  logic [4:0]  kept_length, built_length;
  logic [7:0]  book_word_at;
  logic [9:0]  load_entry_at;
  always_ff @(posedge clk) begin
    if (entry_write) begin
      built_entries[entry_addr] <= entry_data;
      built_lengths[entry_addr] <= entry_data[20:16];
    end
    built_entry <= built_entries[load_entry_at];
    // The writer reads lengths when the book is built, the choice later.
    built_length <= built_lengths[write_busy | write_start ? length_addr : choice_addr];
    kept_length <= kept_lengths[choice_addr];
    if (write_start) book_word_at <= 8'd0;
    else if (word_valid) book_word_at <= book_word_at + 8'd1;
  end
  assign written_length = built_length;

  logic        choose_start, choose_done;
  logic [1:0]  choice_kind;
  logic [3:0]  choice_offline;
  logic [31:0] kept_bits, rebuilt_bits, offline_bits;
  logic        has_kept, has_built;
  logic [1:0]  offer_age;  // choices since the build began, up to 3
  logic        build_begun;
  book_choice #(.REBUILD_MIN_SYMBOLS(1)) choice (
    .clk(clk), .rst(lane_rst), .start(choose_start), .rule(rule), .chi_keep(chi_keep), .chi_offline(chi_offline),
    .has_kept(has_kept), .has_rebuilt(has_built), .rebuilt_bytes({5'b0, book_bytes >> table_shift}),
    .count_addr(choice_addr), .count_data(choice_count), .kept_length(kept_length),
    .rebuilt_length(built_length), .busy(), .done(choose_done), .kind(choice_kind),
    .offline_book(choice_offline), .kept_bits(kept_bits), .rebuilt_bits(rebuilt_bits),
    .offline_bits(offline_bits));

  logic [ENTRY_BITS-1:0] offline_entry;
  logic [3:0]  load_offline;
  offline_entries offline (.clk(clk), .book(load_offline), .symbol(load_entry_at), .entry(offline_entry));

  logic [10:0] load_left;
  logic        loads_entries, load_valid1, load_own;
  logic [9:0]  load_addr1;
  logic [1:0]  round_book [0:7];
  logic [3:0]  round_offline [0:7];
  assign all_counted = &(counted | ~active) & booked_rounds != dealt_rounds & ~|counts_taken;
  assign count_addr = merge_at;
  assign count_read = book_state == BOOK_MERGE & merges;
  always_ff @(posedge clk) begin
    counts_taken <= '0;
    book_valid <= '0;
    build_start <= 1'b0;
    choose_start <= 1'b0;
    chosen <= 1'b0;
    if (lane_rst) begin
      book_state <= BOOK_WAIT;
      booked_rounds <= 4'd0;
      group_rounds <= 16'd0;
      group_bank <= 1'b0;
      group_begins <= 1'b1;
      has_kept <= 1'b0;
      has_built <= 1'b0;
      build_begun <= 1'b0;
      book_bank <= 1'b0;
    end else begin
      case (book_state)
        BOOK_WAIT: begin
          merge_at <= 10'd0;
          merges <= 1'b1;
          if (all_counted) book_state <= BOOK_MERGE;
        end
        BOOK_MERGE: begin
          merge_at <= merge_at + 10'd1;
          if (&merge_at) merges <= 1'b0;
          if (sum_ends) begin
            counts_taken <= active;
            group_rounds <= group_rounds + 16'd1;
            group_begins <= 1'b0;
            book_state <= BOOK_BUILD;
          end
        end
        BOOK_BUILD: begin
          // A build is over when the next begins: it has been waited for three rounds after its start.
          if (group_rounds == build_rounds) begin
            build_start <= 1'b1;
            build_begun <= 1'b1;
            build_bank <= group_bank;
            group_bank <= ~group_bank;
            group_begins <= 1'b1;
            group_rounds <= 16'd0;
            has_built <= 1'b0;
            offer_age <= 2'd0;
          end else if (offer_age != 2'd3) begin
            offer_age <= offer_age + 2'd1;
          end
          book_state <= BOOK_OFFER;
        end
        BOOK_OFFER: begin
          if (~build_begun | offer_age != 2'd3 | built) begin
            has_built <= build_begun & offer_age == 2'd3;
            choose_start <= 1'b1;
            book_state <= BOOK_CHOOSE;
          end
        end
        BOOK_CHOOSE: if (choose_done) begin
          chosen <= 1'b1;
          chosen_book <= choice_kind;
          chosen_offline_book <= choice_offline;
          round_book[booked_rounds[2:0]] <= choice_kind;
          round_offline[booked_rounds[2:0]] <= choice_offline;
          load_own <= choice_kind == neve_pkg::BOOK_REBUILT;
          load_offline <= choice_offline;
          load_left <= 11'd1024;
          load_entry_at <= 10'd0;
          book_state <= choice_kind == neve_pkg::BOOK_KEPT ? BOOK_TELL : BOOK_LOAD;
        end
        BOOK_LOAD: begin
          // The other bank is free when every lane has begun with the round before.
          if (~|book_pending & load_left != 0) begin
            load_left <= load_left - 11'd1;
            load_entry_at <= load_entry_at + 10'd1;
          end
          if (load_left == 0 & ~load_valid1 & ~table_write) begin
            book_bank <= ~book_bank;
            has_kept <= 1'b1;
            book_state <= BOOK_TELL;
          end
        end
        BOOK_TELL: if (~|book_pending) begin
          book_valid <= active;
          booked_rounds <= booked_rounds + 4'd1;
          book_state <= BOOK_WAIT;
        end
        default: book_state <= BOOK_WAIT;
      endcase
    end
  end

  // Tables and kept lengths.
  assign loads_entries = book_state == BOOK_LOAD & ~|book_pending & load_left != 0;
  always_ff @(posedge clk) begin
    load_valid1 <= loads_entries;
    load_addr1 <= load_entry_at;
    table_write <= load_valid1;
    table_bank <= ~book_bank;
    table_addr <= load_addr1;
    table_entry <= load_own ? built_entry : offline_entry;
    if (table_write) kept_lengths[table_addr] <= table_entry[20:16];
  end

  // A built book becomes words when no earlier one waits for the framer.
  logic round_taken;
  logic frames_own;
  assign frames_own = round_book[framed_rounds[2:0]] == neve_pkg::BOOK_REBUILT;
  always_ff @(posedge clk) begin
    write_start <= 1'b0;
    if (lane_rst) begin
      write_waits <= 1'b0;
      built <= 1'b0;
      own_pending <= 4'd0;
      framed_rounds <= 4'd0;
      has_framed <= 1'b0;
    end else begin
      if (build_start) built <= 1'b0;
      else if (write_done) built <= 1'b1;
      if (build_done) write_waits <= 1'b1;
      else if (write_waits & own_pending == 0) begin
        write_waits <= 1'b0;
        write_start <= 1'b1;
      end
      own_pending <= own_pending + {3'b0, chosen & chosen_book == neve_pkg::BOOK_REBUILT} -
                     {3'b0, round_taken & frames_own};
      if (round_taken) begin
        framed_rounds <= framed_rounds + 4'd1;
        has_framed <= 1'b1;
      end
    end
  end

  // --- fixed ratio -------------------------------------------------------------------------------------

  logic        measured;
  logic [31:0] chosen_bits, measured_bits;
  adder #(.WIDTH(32)) all_bits (
    .clk(clk), .subtract(1'b0), .carry(1'b0), .a(chosen_bits), .b({side_bytes_now, 3'b0}),
    .sum(measured_bits));
  always_ff @(posedge clk) begin
    measured <= chosen;
    chosen_bits <= choice_kind == neve_pkg::BOOK_KEPT      ? kept_bits
                   : choice_kind == neve_pkg::BOOK_REBUILT ? rebuilt_bits
                                                           : offline_bits;
  end
  ratio_control ratio (
    .clk(clk), .rst(lane_rst), .last_rung(last_rung), .target(target), .shift(gain_shift), .measured(measured),
    .measured_bits(measured_bits), .ask(asks), .rung(rung), .answered(answered), .answer(next_rung));

  // --- out ---------------------------------------------------------------------------------------------

  // What the framer asks for in words of 4 bytes: the bound of the round's rung and S, which becomes a float64, and the
  // book.
  logic        step_read, book_read;
  logic [1:0]  step_addr, step_addr1;
  logic [7:0]  framer_book_addr;
  logic [31:0] step_word, step_as_f64, book_word;
  gated_ram #(.WIDTH(32), .DEPTH(512)) framer_ladder (
    .clk(clk), .write(reg_write & reg_addr[9]), .write_addr(reg_addr[8:0]), .write_data(reg_data), .enable(1'b1),
    .read(step_read), .read_addr({round_rung[framed_rounds[2:0]], step_addr[1] ? 3'd0 : step_addr[0] ? 3'd4 : 3'd3}),
    .read_data(step_word));
  gated_ram #(.WIDTH(32), .DEPTH(256)) book_words (
    .clk(clk), .write(word_valid), .write_addr(book_word_at), .write_data(word_data), .enable(1'b1), .read(book_read),
    .read_addr(framer_book_addr), .read_data(book_word));
  always_ff @(posedge clk) step_addr1 <= step_addr;
  always_comb begin
    case (step_addr1)
      2'd2: step_as_f64 = {step_word[2:0], 29'b0};
      // 896 more in the exponent, but where S is 0.
      2'd3: step_as_f64 = {1'b0, step_word[30], {3{~step_word[30] & |step_word[30:23]}}, step_word[29:3]};
      default: step_as_f64 = step_word;
    endcase
  end
  block_framer #(.LANES(LANES), .BLOCK_BITS(BLOCK_BITS), .BYTES(BYTES),
                 .MEMORY_BITS(BLOCK_BITS + 4 - $clog2(BYTES))) framer (
    .clk(clk), .rst(lane_rst),
    .header_write(reg_write & reg_addr[9:7] == PAGE_HEADER), .header_addr(reg_addr[6:0]),
    .header_data(reg_data), .header_words(header_words), .start(start_framer),
    .round_valid(framed_rounds != booked_rounds & ~round_taken), .round_taken(round_taken),
    .round_book(round_book[framed_rounds[2:0]]), .round_offline_book(round_offline[framed_rounds[2:0]]),
    .round_book_bytes(book_bytes), .round_has_step(round_has_step[framed_rounds[2:0]]),
    .round_restarts(restarts | ~has_framed), .round_lanes(round_lanes[framed_rounds[2:0]]),
    .round_is_last(round_is_last[framed_rounds[2:0]]), .step_read(step_read), .step_addr(step_addr),
    .book_read(book_read), .book_addr(framer_book_addr), .word_data(step_as_f64 | book_word),
    .packed_valid(packed_valid), .packed_read(packed_read), .packed_taken(packed_taken), .packed_values(packed_values),
    .packed_symbols(packed_symbols), .packed_entries(packed_entries), .packed_side_bytes(packed_side_bytes),
    .packed_code_bytes(packed_code_bytes), .codes_read(codes_read), .codes_data(codes_data),
    .side_read(side_read), .side_entry(side_entry),
    .out_valid(m_axis_tvalid), .out_ready(m_axis_tready), .out_data(m_axis_tdata),
    .out_keep(m_axis_tkeep), .out_last(m_axis_tlast));
endmodule
