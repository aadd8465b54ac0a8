// SPDX-License-Identifier: BSD-3-Clause
// The symbols that occur, the most frequent first, nearly: CEAZ's algorithm 1, as approximate_order() in
// src/core/stream/codebook.cpp. It walks outwards from residual 0 and compares only the two residuals of equal
// magnitude; the escape goes in front of the first symbol that is not more frequent. One symbol a cycle.
module symbol_order (
    input  logic                             clk,
    input  logic                             rst,
    input  logic                             start,
    output logic [ neve_pkg::SYMBOL_BITS-1:0] count_addr,
    input  logic [  neve_pkg::COUNT_BITS-1:0] count_data,
    output logic                             leaf_write,
    output logic [ neve_pkg::SYMBOL_BITS-1:0] leaf_rank,    // 0: the most frequent
    output logic [ neve_pkg::SYMBOL_BITS-1:0] leaf_symbol,
    output logic [  neve_pkg::COUNT_BITS-1:0] leaf_count,
    output logic                             done,
    output logic [neve_pkg::SYMBOL_BITS:0]   used           // how many occur; valid from done on
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int C = neve_pkg::COUNT_BITS;

  // Places of the walk: the escape, 512, 511, 513, 510, 514, ... 1, 1023. Behind the first two a place is left of 0 where
  // it is even.
  logic [S-1:0] place;
  logic asks;
  logic [S-1:0] distance;
  assign distance = S'(place[S-1:1]);

  logic a_valid, a_is_right;
  logic b_valid, b_is_right, b_is_escape;
  logic [S-1:0] b_symbol;
  logic c_valid, c_is_right;
  logic [S-1:0] c_symbol;
  logic [C-1:0] c_count;
  // A pair is complete when its left one stands in e and its right one in d; the one that leaves second stays in e.
  logic d_valid, d_is_right, d_left_first;
  logic [S-1:0] d_symbol;
  logic [C-1:0] d_count;
  logic e_valid;
  logic [S-1:0] e_symbol;
  logic [C-1:0] e_count;
  logic f_valid;
  logic [S-1:0] f_symbol;
  logic [C-1:0] f_count;
  logic g_valid, g_escape_first;
  logic [S-1:0] g_symbol;
  logic [C-1:0] g_count;

  logic [C-1:0] escape_count;
  logic escape_waits;
  logic [S-1:0] escape_rank;
  logic [S:0] next_rank;
  logic drains;
  logic [2:0] drained;  // cycles since the last symbol was asked for
  logic ends;
  assign ends = drains && drained == 3'd7;

  always_ff @(posedge clk) begin
    done <= 1'b0;
    if (start) begin
      place <= '0;
      asks <= 1'b1;
      drains <= 1'b0;
      next_rank <= '0;
      escape_waits <= 1'b0;
    end

    if (asks) begin
      if (place == '0) count_addr <= S'(neve_pkg::ESCAPE);
      else if (place[0]) count_addr <= S'(neve_pkg::ZERO) + distance;
      else count_addr <= S'(neve_pkg::ZERO) - distance;
      place <= place + S'(1);
      if (&place) begin
        asks <= 1'b0;
        drains <= 1'b1;
        drained <= '0;
      end
    end
    a_valid <= asks;
    a_is_right <= asks && place[0];

    b_symbol <= count_addr;
    b_is_escape <= a_valid && count_addr == S'(neve_pkg::ESCAPE);
    b_valid <= a_valid;
    b_is_right <= a_is_right;

    // The escape has no place of its own: it leaves its count, and a pair without a left one.
    c_symbol <= b_symbol;
    c_count <= b_is_escape ? '0 : count_data;
    c_valid <= b_valid;
    c_is_right <= b_is_right;
    if (b_is_escape) begin
      escape_count <= count_data;
      escape_waits <= count_data != '0;
    end

    d_symbol <= c_symbol;
    d_count <= c_count;
    d_valid <= c_valid;
    d_is_right <= c_is_right;
    d_left_first <= d_count > c_count;

    e_valid <= d_valid;
    if (d_is_right) begin
      f_valid <= d_valid;
      f_symbol <= d_left_first ? e_symbol : d_symbol;
      f_count <= d_left_first ? e_count : d_count;
      if (d_left_first) begin
        e_symbol <= d_symbol;
        e_count <= d_count;
      end
    end else begin
      f_valid <= e_valid;
      f_symbol <= e_symbol;
      f_count <= e_count;
      e_symbol <= d_symbol;
      e_count <= d_count;
    end

    g_valid <= f_valid && f_count != '0;
    g_symbol <= f_symbol;
    g_count <= f_count;
    g_escape_first <= escape_count >= f_count;

    leaf_write <= g_valid;
    leaf_rank <= next_rank[S-1:0];
    leaf_symbol <= g_symbol;
    leaf_count <= g_count;
    if (g_valid) begin
      if (escape_waits && g_escape_first) begin
        // Its rank is filled at the end, when nothing else is written.
        escape_waits <= 1'b0;
        escape_rank <= next_rank[S-1:0];
        leaf_rank <= next_rank[S-1:0] + S'(1);
        next_rank <= next_rank + (S + 1)'(2);
      end else begin
        next_rank <= next_rank + (S + 1)'(1);
      end
    end

    if (drains) drained <= drained + 3'd1;
    if (ends) begin
      drains <= 1'b0;
      leaf_write <= escape_count != '0;
      leaf_rank <= escape_waits ? next_rank[S-1:0] : escape_rank;
      leaf_symbol <= S'(neve_pkg::ESCAPE);
      leaf_count <= escape_count;
      used <= next_rank + (S + 1)'(escape_waits);
      done <= 1'b1;
    end

    if (rst) begin
      asks <= 1'b0;
      drains <= 1'b0;
      a_valid <= 1'b0;
      b_valid <= 1'b0;
      c_valid <= 1'b0;
      d_valid <= 1'b0;
      e_valid <= 1'b0;
      f_valid <= 1'b0;
      g_valid <= 1'b0;
      leaf_write <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule
