// SPDX-License-Identifier: BSD-3-Clause
// Which codebook a chunk gets: the one in force, the one built for it, or an offline one; Codebooks::choose() in
// src/core/stream/codebook_choice.cpp. About 1,200 cycles: all codebooks in one pass over the histogram. Sums,
// differences and comparisons are made where multipliers are (dsp_slice.sv): a comparison is the sign of a difference.
//
// Costs are exact. Sigma, which rule chi compares, is rounded down to 2^-16 here and a double there: a choice can differ
// only where chi is within 2^-15 of a threshold. The counts of a chunk sum to less than 2^26, and a code is
// told apart from a missing one by its length. Without a rebuilt codebook on offer no rule takes one.
module codebook_choice #(
    parameter int REBUILD_MIN_SYMBOLS = 24 * 1024  // of fewer no codebook is rebuilt, but by rule always
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
    output logic [                     3:0] offline_codebook,
    output logic [                    31:0] kept_bits,       // all ones: not open
    output logic [                    31:0] rebuilt_bits,
    output logic [                    31:0] offline_bits
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int C = neve_pkg::COUNT_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam int T = 26;  // bits of the sum of all counts
  localparam int SUM = 32;
  localparam int OFFLINE = neve_pkg::OFFLINE_CODEBOOKS;
  localparam logic [SUM-1:0] NOT_OPEN = '1;

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] PASS = 3'd1;
  localparam logic [2:0] PASS_END = 3'd2;
  localparam logic [2:0] COMPARE = 3'd3;
  localparam logic [2:0] SIGMA = 3'd4;
  localparam logic [2:0] DECIDE = 3'd5;
  logic [2:0] state;
  logic [4:0] step;  // of a state
  assign busy = state != IDLE;

  // --- sums of count times length ------------------------------------------------------------------------------
  logic [OFFLINE*L-1:0] offline_length;
  offline_lengths offline_lengths (
      .clk,
      .symbol(count_addr),
      .lengths(offline_length)
  );

  logic [3:0] valid;  // stages behind the question
  logic begins, shifts;
  logic [T-1:0] count;
  logic [L-1:0] length_kept, length_rebuilt;
  logic [OFFLINE*L-1:0] lengths;
  logic [SUM-1:0] kept_sum, rebuilt_sum;
  logic kept_misses;  // a symbol occurs that the kept codebook has no code for
  logic [T-1:0] total;
  // A sum goes on to its neighbour two cycles after it is told to.
  assign begins = state == PASS && count_addr == '0;
  assign shifts = state == COMPARE && !step[0];
  always_ff @(posedge clk) begin
    count <= valid[0] ? T'(count_data) : '0;
    length_kept <= kept_length;
    length_rebuilt <= rebuilt_length;
    lengths <= offline_length;
    if (begins) kept_misses <= 1'b0;
    else if (valid[1] && count != '0 && length_kept == '0) kept_misses <= 1'b1;
  end

  // Sums of offline codebooks come down a chain, to be compared.
  logic [48*OFFLINE+47:0] cascade;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [48*OFFLINE-1:0] offline_sums;
  logic [47:0] kept_wide, rebuilt_wide, total_wide;
  /* verilator lint_on UNUSEDSIGNAL */
  assign cascade[48*OFFLINE+:48] = '0;
  generate
    for (genvar b = 0; b < OFFLINE; b++) begin : codebooks
      multiply_accumulate cost (
          .clk, .begins, .from('0), .shifts, .a(count), .b(17'(lengths[b*L+:L])),
          .cascade_in(cascade[48*(b+1)+:48]), .cascade(cascade[48*b+:48]), .sum(offline_sums[48*b+:48]));
    end
  endgenerate
  multiply_accumulate kept (
      .clk, .begins, .from('0), .shifts(1'b0), .a(count), .b(17'(length_kept)), .cascade_in('0), .cascade(),
      .sum(kept_wide));
  multiply_accumulate rebuilt (
      .clk, .begins, .from({29'd0, rebuilt_bytes, 3'd0}), .shifts(1'b0), .a(count), .b(17'(length_rebuilt)),
      .cascade_in('0), .cascade(), .sum(rebuilt_wide));
  multiply_accumulate counts (
      .clk, .begins, .from('0), .shifts(1'b0), .a(count), .b(17'd1), .cascade_in('0), .cascade(), .sum(total_wide));
  assign kept_sum = kept_wide[SUM-1:0];
  assign rebuilt_sum = rebuilt_wide[SUM-1:0];
  assign total = total_wide[T-1:0];

  // --- comparisons ---------------------------------------------------------------------------------------------
  logic offline_is_less, kept_exceeds_offline, kept_exceeds_rebuilt, offline_exceeds_rebuilt;
  less #(.WIDTH(SUM)) best (.clk, .a(offline_sums[SUM-1:0]), .b(offline_bits), .is_less(offline_is_less));
  less #(.WIDTH(SUM)) kept_offline (.clk, .a(offline_bits), .b(kept_bits), .is_less(kept_exceeds_offline));
  less #(.WIDTH(SUM)) kept_rebuilt (.clk, .a(rebuilt_bits), .b(kept_bits), .is_less(kept_exceeds_rebuilt));
  less #(.WIDTH(SUM)) offline_rebuilt (.clk, .a(rebuilt_bits), .b(offline_bits), .is_less(offline_exceeds_rebuilt));
  logic is_few;
  less #(.WIDTH(T)) few (.clk, .a(total), .b(T'(REBUILD_MIN_SYMBOLS)), .is_less(is_few));

  // --- sigma = sqrt(1024 * squares - total^2) / total, in 16.16 -------------------------------------------------
  // A square is low + 2^17 high, of 17 bits and the others of a factor. All of it is there before the comparisons end.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [47:0] low, high, radicand_low;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [2*T-18:0] squares_above;
  logic [2*T-1:0] total_square;
  logic [2*T+9:0] squares;
  logic [16:0] radicand_high;
  logic sigma_start, sigma_done;
  logic [21:0] sigma, last_sigma;
  multiply_accumulate squares_low (
      .clk, .begins, .from('0), .shifts(1'b0), .a(count), .b(count[16:0]), .cascade_in('0), .cascade(), .sum(low));
  multiply_accumulate squares_high (
      .clk, .begins, .from('0), .shifts(1'b0), .a(count), .b(17'(count[T-1:17])), .cascade_in('0), .cascade(),
      .sum(high));
  adder #(.WIDTH(2 * T - 17)) square_sum (
      .clk, .subtract(1'b0), .carry(1'b0), .a((2 * T - 17)'(low[47:17])), .b(high[2*T-18:0]),
      .sum(squares_above));
  multiplier #(.A_BITS(T), .B_BITS(T)) square_of_total (.clk, .a(total), .b(total), .product(total_square));
  assign squares = {squares_above, low[16:0], 10'd0};
  // In two halves, the lower one with its borrow on top.
  adder #(.WIDTH(48)) difference_low (
      .clk, .subtract(1'b1), .carry(1'b0), .a({1'b0, squares[46:0]}), .b({1'b0, total_square[46:0]}),
      .sum(radicand_low));
  adder #(.WIDTH(17)) difference_high (
      .clk, .subtract(1'b1), .carry(radicand_low[47]), .a(17'(squares[2*T+9:47])), .b(17'(total_square[2*T-1:47])),
      .sum(radicand_high));
  relative_deviation deviation (
      .clk,
      .rst,
      .start(sigma_start),
      .radicand({radicand_high, radicand_low[46:0]}),
      .total,
      .done(sigma_done),
      .value(sigma)
  );

  // Chi is how much sigma changed.
  logic [22:0] change, chi;
  logic exceeds_keep, exceeds_offline;
  adder #(.WIDTH(23)) sigma_change (
      .clk, .subtract(1'b1), .carry(1'b0), .a({1'b0, sigma}), .b({1'b0, last_sigma}), .sum(change));
  adder #(.WIDTH(23)) amount (
      .clk, .subtract(change[22]), .carry(1'b0), .a('0), .b(change), .sum(chi));
  less #(.WIDTH(32)) keep (.clk, .a(chi_keep), .b(32'(chi)), .is_less(exceeds_keep));
  less #(.WIDTH(32)) leave (.clk, .a(chi_offline), .b(32'(chi)), .is_less(exceeds_offline));

  // --- decision --------------------------------------------------------------------------------------------------
  logic may_keep, may_rebuild;
  assign may_keep = has_kept && !kept_misses;
  always_ff @(posedge clk) begin
    done <= 1'b0;
    sigma_start <= 1'b0;
    valid <= {valid[2:0], 1'b0};
    step <= step + 5'd1;
    may_rebuild <= has_rebuilt && rule != neve_pkg::RULE_NEVER && (rule == neve_pkg::RULE_ALWAYS || !is_few);
    if (state == SIGMA) begin
      kept_bits <= may_keep ? kept_sum : NOT_OPEN;
      rebuilt_bits <= may_rebuild ? rebuilt_sum : NOT_OPEN;
    end
    unique case (state)
      PASS: begin
        valid[0] <= 1'b1;
        count_addr <= count_addr + S'(1);
        if (&count_addr) state <= PASS_END;
      end
      PASS_END: begin
        step <= '0;
        if (valid == '0) state <= COMPARE;
      end
      COMPARE: begin
        if (step[0] && offline_is_less) begin
          offline_bits <= offline_sums[SUM-1:0];
          offline_codebook <= step[4:1];
        end
        if (&step) begin
          sigma_start <= 1'b1;
          state <= SIGMA;
        end
      end
      SIGMA: begin
        step <= '0;
        if (sigma_done) state <= DECIDE;
      end
      DECIDE: begin
        unique case (rule)
          neve_pkg::RULE_ALWAYS: kind <= may_rebuild ? neve_pkg::CODEBOOK_REBUILT : neve_pkg::CODEBOOK_OFFLINE;
          neve_pkg::RULE_NEVER: kind <= has_kept ? neve_pkg::CODEBOOK_KEPT : neve_pkg::CODEBOOK_OFFLINE;
          neve_pkg::RULE_CHI: begin
            if (!has_kept || exceeds_offline) kind <= neve_pkg::CODEBOOK_OFFLINE;
            else if (!exceeds_keep && may_keep) kind <= neve_pkg::CODEBOOK_KEPT;
            else kind <= may_rebuild ? neve_pkg::CODEBOOK_REBUILT : neve_pkg::CODEBOOK_OFFLINE;
          end
          default: begin
            // One that is not open costs more than all.
            if (!kept_exceeds_offline && !kept_exceeds_rebuilt) kind <= neve_pkg::CODEBOOK_KEPT;
            else kind <= offline_exceeds_rebuilt ? neve_pkg::CODEBOOK_REBUILT : neve_pkg::CODEBOOK_OFFLINE;
          end
        endcase
        // Chi has been compared.
        if (step == 5'd3) begin
          last_sigma <= sigma;
          done <= 1'b1;
          state <= IDLE;
        end
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
