// SPDX-License-Identifier: BSD-3-Clause
// Which codebook a chunk gets: the one in force, the one built for it, or an offline one; Books::choose() in
// src/stream/book_choice.cpp. About 1,200 cycles: all books in one pass over the histogram.
//
// Costs are exact. Sigma, which rule chi compares, is rounded down to 2^-16 here and a double there: a choice can differ
// only where chi is within 2^-15 of a threshold. The counts of a chunk sum to less than 2^27, and a code is
// told apart from a missing one by its length. Without a rebuilt book on offer no rule takes one.
module book_choice #(
    parameter int REBUILD_MIN_SYMBOLS = 24 * 1024  // of fewer no book is rebuilt, but by rule always
) (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            start,
    input  logic [                     1:0] rule,
    input  logic [                    31:0] chi_keep,        // unsigned 16.16
    input  logic [                    31:0] chi_offline,
    input  logic                            has_kept,
    input  logic                            has_rebuilt,
    input  logic [                    15:0] rebuilt_bytes,
    output logic [neve_pkg::SYMBOL_BITS-1:0] count_addr,
    input  logic [ neve_pkg::COUNT_BITS-1:0] count_data,
    input  logic [neve_pkg::LENGTH_BITS-1:0] kept_length,    // of the symbol that count_data counts
    input  logic [neve_pkg::LENGTH_BITS-1:0] rebuilt_length,
    output logic                            busy,
    output logic                            done,
    output logic [                     1:0] kind,
    output logic [                     3:0] offline_book,
    output logic [                    31:0] kept_bits,       // all ones: not open
    output logic [                    31:0] rebuilt_bits,
    output logic [                    31:0] offline_bits
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int C = neve_pkg::COUNT_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam int T = 27;  // bits of the sum of all counts
  localparam int SUM = 32;
  localparam int OFFLINE = neve_pkg::OFFLINE_BOOKS;
  localparam int BOOKS = OFFLINE + 2;  // then the kept and the rebuilt one
  localparam int KEPT = OFFLINE;
  localparam int REBUILT = OFFLINE + 1;
  localparam logic [SUM-1:0] NOT_OPEN = '1;

  localparam logic [3:0] IDLE = 4'd0;
  localparam logic [3:0] PASS = 4'd1;
  localparam logic [3:0] PASS_END = 4'd2;
  localparam logic [3:0] COMPARE = 4'd3;
  localparam logic [3:0] SIGMA = 4'd4;
  localparam logic [3:0] CHI = 4'd5;
  localparam logic [3:0] DECIDE = 4'd6;
  localparam logic [3:0] DECIDED = 4'd7;
  localparam logic [3:0] CHANGE = 4'd8;
  logic [3:0] state;
  assign busy = state != IDLE;

  // --- sums of count times length ------------------------------------------------------------------------------
  logic [OFFLINE*L-1:0] offline_length;
  offline_lengths offline_lengths (
      .clk,
      .symbol(count_addr),
      .lengths(offline_length)
  );

  logic [3:0] valid;  // stages behind the question
  logic [C-1:0] count;
  logic [BOOKS*L-1:0] lengths;
  logic [BOOKS*(C+L)-1:0] products;
  logic [BOOKS*SUM-1:0] sums;
  logic kept_misses;  // a symbol occurs that the kept book has no code for
  logic [T-1:0] total;
  logic [2*T-1:0] square, squares;
  logic [T-1:0] factor;

  always_ff @(posedge clk) begin
    count <= count_data;
    lengths <= {rebuilt_length, kept_length, offline_length};
    for (int b = 0; b < BOOKS; b++) begin
      products[b*(C+L)+:C+L] <= (C + L)'(count) * (C + L)'(lengths[b*L+:L]);
      if (valid[2]) sums[b*SUM+:SUM] <= sums[b*SUM+:SUM] + SUM'(products[b*(C+L)+:C+L]);
    end
    if (valid[1]) begin
      total <= total + T'(count);
      if (count != '0 && lengths[KEPT*L+:L] == '0) kept_misses <= 1'b1;
    end
    factor <= state == SIGMA ? total : T'(count);
    square <= (2 * T)'(factor) * (2 * T)'(factor);
    if (valid[3]) squares <= squares + square;
    if (state == PASS && count_addr == '0) begin
      sums <= '0;
      total <= '0;
      squares <= '0;
      kept_misses <= 1'b0;
    end
  end

  // --- the cheapest offline book -------------------------------------------------------------------------------
  logic [3:0] compared;
  logic [SUM-1:0] compared_sum;
  assign compared_sum = sums[compared*SUM+:SUM];

  // --- sigma = sqrt(1024 * squares - total^2) / total, in 16.16 -------------------------------------------------
  logic sigma_start, sigma_done;
  logic [2:0] sigma_wait;
  logic [21:0] sigma, last_sigma;
  logic [22:0] change;
  logic [31:0] chi;
  relative_deviation deviation (
      .clk,
      .rst,
      .start(sigma_start),
      .radicand({squares, 10'd0} - (2 * T + 10)'(square)),
      .total,
      .done(sigma_done),
      .value(sigma)
  );

  // --- decision --------------------------------------------------------------------------------------------------
  logic may_rebuild, keeps_by_chi, leaves_by_chi, kept_is_cheapest, offline_is_cheaper;
  always_ff @(posedge clk) begin
    done <= 1'b0;
    sigma_start <= 1'b0;
    valid <= {valid[2:0], 1'b0};
    unique case (state)
      PASS: begin
        valid[0] <= 1'b1;
        count_addr <= count_addr + S'(1);
        if (&count_addr) state <= PASS_END;
      end
      PASS_END: begin
        compared <= '0;
        if (valid == '0) state <= COMPARE;
        sigma_wait <= '0;
      end
      COMPARE: begin
        if (compared_sum < offline_bits) begin
          offline_bits <= compared_sum;
          offline_book <= compared;
        end
        compared <= compared + 4'd1;
        if (compared == 4'(OFFLINE - 1)) state <= SIGMA;
      end
      SIGMA: begin
        kept_bits <= has_kept && !kept_misses ? sums[KEPT*SUM+:SUM] : NOT_OPEN;
        may_rebuild <= has_rebuilt && rule != neve_pkg::RULE_NEVER &&
            (rule == neve_pkg::RULE_ALWAYS || total >= T'(REBUILD_MIN_SYMBOLS));
        rebuilt_bits <= sums[REBUILT*SUM+:SUM] + {13'd0, rebuilt_bytes, 3'd0};
        // The square of the total is there three cycles later.
        if (sigma_wait != 3'd4) sigma_wait <= sigma_wait + 3'd1;
        sigma_start <= sigma_wait == 3'd3;
        if (sigma_done) state <= CHI;
      end
      CHI: begin
        change <= {1'b0, sigma} - {1'b0, last_sigma};
        last_sigma <= sigma;
        if (!may_rebuild) rebuilt_bits <= NOT_OPEN;
        kept_is_cheapest <= kept_bits <= offline_bits && (!may_rebuild || kept_bits <= rebuilt_bits);
        offline_is_cheaper <= !may_rebuild || offline_bits <= rebuilt_bits;
        state <= CHANGE;
      end
      CHANGE: begin
        chi <= change[22] ? 32'(22'(-change[21:0])) : 32'(change[21:0]);
        state <= DECIDE;
      end
      DECIDE: begin
        keeps_by_chi <= chi <= chi_keep;
        leaves_by_chi <= chi > chi_offline;
        state <= DECIDED;
      end
      DECIDED: begin
        unique case (rule)
          neve_pkg::RULE_ALWAYS: kind <= may_rebuild ? neve_pkg::BOOK_REBUILT : neve_pkg::BOOK_OFFLINE;
          neve_pkg::RULE_NEVER: kind <= has_kept ? neve_pkg::BOOK_KEPT : neve_pkg::BOOK_OFFLINE;
          neve_pkg::RULE_CHI: begin
            if (!has_kept || leaves_by_chi) kind <= neve_pkg::BOOK_OFFLINE;
            else if (keeps_by_chi && kept_bits != NOT_OPEN) kind <= neve_pkg::BOOK_KEPT;
            else kind <= may_rebuild ? neve_pkg::BOOK_REBUILT : neve_pkg::BOOK_OFFLINE;
          end
          default: begin
            if (kept_is_cheapest && kept_bits != NOT_OPEN) kind <= neve_pkg::BOOK_KEPT;
            else kind <= offline_is_cheaper ? neve_pkg::BOOK_OFFLINE : neve_pkg::BOOK_REBUILT;
          end
        endcase
        done <= 1'b1;
        state <= IDLE;
      end
      default: ;
    endcase

    if (start) begin
      count_addr <= '0;
      offline_bits <= NOT_OPEN;
      state <= PASS;
    end
    if (rst) begin
      state <= IDLE;
      valid <= '0;
      done <= 1'b0;
      sigma_start <= 1'b0;
    end
  end
endmodule
