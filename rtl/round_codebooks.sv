// SPDX-License-Identifier: BSD-3-Clause
// The codebook of each round: counts of its lanes are summed up, the codebook is chosen by them, the lanes' tables are
// loaded. A codebook of the stream's own is built meanwhile, from the counts of rounds before.
module round_codebooks #(
  parameter int LANES = 1,
  parameter int BLOCK_BITS = 12
) (
  input  logic        clk,
  input  logic        rst,

  // Registers.
  input  logic [1:0]  rule,
  input  logic [31:0] chi_keep,
  input  logic [31:0] chi_offline,
  input  logic [15:0] build_rounds,
  input  logic [2:0]  table_shift,

  // The round at hand: the first that has been dealt and whose codebook is not chosen.
  input  logic [3:0]  dealt_rounds,
  output logic [3:0]  chosen_rounds,
  input  logic [6:0]  lanes_now,

  // Lanes.
  output logic [LANES-1:0] active,       // in the round at hand
  input  logic [LANES-1:0] counted,
  output logic [LANES-1:0] counts_taken,
  output logic        count_read,
  output logic [9:0]  count_addr,
  input  logic [LANES*(BLOCK_BITS+1)-1:0] count_data,
  input  logic [LANES*(BLOCK_BITS+3)-1:0] counted_side_bytes,
  output logic [LANES-1:0] codebook_valid,
  output logic        codebook_bank,
  input  logic [LANES-1:0] codebook_pending,
  output logic        table_write,
  output logic        table_bank,
  output logic [9:0]  table_addr,
  output logic [neve_pkg::ENTRY_BITS-1:0] table_entry,

  // A round's choice, and what it took.
  output logic        chosen,
  output logic [1:0]  chosen_codebook,
  output logic [3:0]  chosen_offline_codebook,
  output logic        measured,
  output logic [31:0] measured_bits,

  // The framer: the first round that it has not emitted, and the words of the stream's own codebook.
  input  logic        round_taken,
  output logic [3:0]  framed_rounds,
  output logic        has_framed,
  output logic [1:0]  framed_codebook,
  output logic [3:0]  framed_offline_codebook,
  output logic [10:0] codebook_bytes,
  output logic        word_valid,
  output logic [7:0]  codebook_word_at,
  output logic [31:0] word_data
);
  localparam int COUNT_BITS = neve_pkg::COUNT_BITS;
  localparam int ENTRY_BITS = neve_pkg::ENTRY_BITS;

  localparam logic [2:0] WAIT = 3'd0, MERGE = 3'd1, BUILD = 3'd2, OFFER = 3'd3,
                         CHOOSE = 3'd4, LOAD = 3'd5, TELL = 3'd6;
  logic [2:0]  state;
  logic [9:0]  merge_at;
  logic        merges;
  logic [28:0] side_bytes_now;
  logic        all_counted, sum_ends;
  integer i;
  always_comb begin
    for (i = 0; i < LANES; i = i + 1) active[i] = 7'(i) < lanes_now;
  end

  logic [COUNT_BITS-1:0] choice_count, build_count;
  logic [9:0]  choice_addr, build_addr;
  logic        group_bank, group_begins, build_bank;
  logic [15:0] group_rounds;
  round_counts #(.LANES(LANES), .BLOCK_BITS(BLOCK_BITS)) counts (
    .clk(clk), .begins(state == WAIT), .sums_side(all_counted & state == WAIT),
    .count_read(count_read), .active(active), .count_data(count_data), .side_bytes(counted_side_bytes),
    .group_bank(group_bank), .group_begins(group_begins), .sum_ends(sum_ends), .side_bytes_now(side_bytes_now),
    .choice_addr(choice_addr), .choice_count(choice_count), .build_bank(build_bank), .build_addr(build_addr),
    .build_count(build_count));

  // The builder counts symbols that did not occur as if they had once: its codebook serves rounds to come.
  logic        build_start, build_done, entry_write, built;
  logic [9:0]  entry_addr;
  logic [ENTRY_BITS-1:0] entry_data;
  codebook_builder builder (
    .clk(clk), .rst(rst), .start(build_start), .count_addr(build_addr),
    .count_data(|build_count ? build_count : COUNT_BITS'(1)), .entry_write(entry_write),
    .entry_addr(entry_addr), .entry_data(entry_data), .busy(), .done(build_done));

  logic        write_start, write_waits, write_busy, write_done;
  logic [9:0]  length_addr;
  logic [3:0]  own_pending;  // rounds with a codebook of their own that the framer has yet to emit
  logic [ENTRY_BITS-1:0] built_entries [0:1023];
  logic [ENTRY_BITS-1:0] built_entry;
  logic [4:0]  built_lengths [0:1023];
  logic [4:0]  kept_lengths [0:1023];
  logic [4:0]  kept_length, built_length;
  logic [9:0]  load_entry_at;
  always_ff @(posedge clk) begin
    if (entry_write) begin
      built_entries[entry_addr] <= entry_data;
      built_lengths[entry_addr] <= entry_data[20:16];
    end
    built_entry <= built_entries[load_entry_at];
    // The writer reads lengths when the codebook is built, the choice later.
    built_length <= built_lengths[write_busy | write_start ? length_addr : choice_addr];
    kept_length <= kept_lengths[choice_addr];
    if (write_start) codebook_word_at <= 8'd0;
    else if (word_valid) codebook_word_at <= codebook_word_at + 8'd1;
  end

  codebook_writer writer (
    .clk(clk), .rst(rst), .start(write_start), .length_addr(length_addr), .length_data(built_length),
    .word_valid(word_valid), .word_data(word_data), .byte_count(codebook_bytes), .busy(write_busy),
    .done(write_done));

  logic        choose_start, choose_done;
  logic [1:0]  choice_kind;
  logic [3:0]  choice_offline;
  logic [31:0] kept_bits, rebuilt_bits, offline_bits;
  logic        has_kept, has_built;
  logic [1:0]  offer_age;  // choices since the build began, up to 3
  logic        build_begun, may_choose;
  codebook_choice #(.REBUILD_MIN_SYMBOLS(1)) choice (
    .clk(clk), .rst(rst), .start(choose_start), .rule(rule), .chi_keep(chi_keep), .chi_offline(chi_offline),
    .has_kept(has_kept), .has_rebuilt(has_built), .rebuilt_bytes({5'b0, codebook_bytes >> table_shift}),
    .count_addr(choice_addr), .count_data(choice_count), .kept_length(kept_length),
    .rebuilt_length(built_length), .busy(), .done(choose_done), .kind(choice_kind),
    .offline_codebook(choice_offline), .kept_bits(kept_bits), .rebuilt_bits(rebuilt_bits),
    .offline_bits(offline_bits));

  logic [ENTRY_BITS-1:0] offline_entry;
  logic [3:0]  load_offline;
  offline_entries offline (.clk(clk), .codebook(load_offline), .symbol(load_entry_at), .entry(offline_entry));

  logic [10:0] load_left;
  logic        loads_entries, load_valid1, load_own;
  logic [9:0]  load_addr1;
  logic [1:0]  round_codebook [0:7];
  logic [3:0]  round_offline [0:7];
  assign all_counted = &(counted | ~active) & chosen_rounds != dealt_rounds & ~|counts_taken;
  assign count_addr = merge_at;
  assign count_read = state == MERGE & merges;
  always_ff @(posedge clk) begin
    counts_taken <= '0;
    codebook_valid <= '0;
    choose_start <= 1'b0;
    chosen <= 1'b0;
    if (rst) begin
      state <= WAIT;
      chosen_rounds <= 4'd0;
      has_kept <= 1'b0;
      codebook_bank <= 1'b0;
    end else begin
      case (state)
        WAIT: begin
          merge_at <= 10'd0;
          merges <= 1'b1;
          if (all_counted) state <= MERGE;
        end
        MERGE: begin
          merge_at <= merge_at + 10'd1;
          if (&merge_at) merges <= 1'b0;
          if (sum_ends) begin
            counts_taken <= active;
            state <= BUILD;
          end
        end
        BUILD: state <= OFFER;
        OFFER: if (may_choose) begin
          choose_start <= 1'b1;
          state <= CHOOSE;
        end
        CHOOSE: if (choose_done) begin
          chosen <= 1'b1;
          chosen_codebook <= choice_kind;
          chosen_offline_codebook <= choice_offline;
          round_codebook[chosen_rounds[2:0]] <= choice_kind;
          round_offline[chosen_rounds[2:0]] <= choice_offline;
          load_own <= choice_kind == neve_pkg::CODEBOOK_REBUILT;
          load_offline <= choice_offline;
          load_left <= 11'd1024;
          load_entry_at <= 10'd0;
          state <= choice_kind == neve_pkg::CODEBOOK_KEPT ? TELL : LOAD;
        end
        LOAD: begin
          if (loads_entries) begin
            load_left <= load_left - 11'd1;
            load_entry_at <= load_entry_at + 10'd1;
          end
          if (load_left == 0 & ~load_valid1 & ~table_write) begin
            codebook_bank <= ~codebook_bank;
            has_kept <= 1'b1;
            state <= TELL;
          end
        end
        TELL: if (~|codebook_pending) begin
          codebook_valid <= active;
          chosen_rounds <= chosen_rounds + 4'd1;
          state <= WAIT;
        end
        default: state <= WAIT;
      endcase
    end
  end

  // When a codebook is built, and when it is on offer.
  assign may_choose = ~build_begun | offer_age != 2'd3 | built;
  always_ff @(posedge clk) begin
    build_start <= 1'b0;
    if (rst) begin
      group_rounds <= 16'd0;
      group_bank <= 1'b0;
      group_begins <= 1'b1;
      has_built <= 1'b0;
      build_begun <= 1'b0;
    end else if (state == MERGE & sum_ends) begin
      group_rounds <= group_rounds + 16'd1;
      group_begins <= 1'b0;
    end else if (state == BUILD) begin
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
    end else if (state == OFFER & may_choose) begin
      has_built <= build_begun & offer_age == 2'd3;
    end
  end

  // Tables and kept lengths. The other bank is free when every lane has begun with the round before.
  assign loads_entries = state == LOAD & ~|codebook_pending & load_left != 0;
  always_ff @(posedge clk) begin
    load_valid1 <= loads_entries;
    load_addr1 <= load_entry_at;
    table_write <= load_valid1;
    table_bank <= ~codebook_bank;
    table_addr <= load_addr1;
    table_entry <= load_own ? built_entry : offline_entry;
    if (table_write) kept_lengths[table_addr] <= table_entry[20:16];
  end

  // A built codebook becomes words when no earlier one waits for the framer.
  logic frames_own;
  assign frames_own = framed_codebook == neve_pkg::CODEBOOK_REBUILT;
  always_ff @(posedge clk) begin
    write_start <= 1'b0;
    if (rst) begin
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
      own_pending <= own_pending + {3'b0, chosen & chosen_codebook == neve_pkg::CODEBOOK_REBUILT} -
                     {3'b0, round_taken & frames_own};
      if (round_taken) begin
        framed_rounds <= framed_rounds + 4'd1;
        has_framed <= 1'b1;
      end
    end
  end

  // What the round took, for whoever holds a ratio.
  logic [31:0] chosen_bits;
  adder #(.WIDTH(32)) all_bits (
    .clk(clk), .subtract(1'b0), .carry(1'b0), .a(chosen_bits), .b({side_bytes_now, 3'b0}),
    .sum(measured_bits));
  always_ff @(posedge clk) begin
    measured <= chosen;
    chosen_bits <= choice_kind == neve_pkg::CODEBOOK_KEPT      ? kept_bits
                   : choice_kind == neve_pkg::CODEBOOK_REBUILT ? rebuilt_bits
                                                               : offline_bits;
  end
  assign framed_codebook = round_codebook[framed_rounds[2:0]];
  assign framed_offline_codebook = round_offline[framed_rounds[2:0]];
endmodule
