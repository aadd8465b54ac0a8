// SPDX-License-Identifier: BSD-3-Clause
// Pieces of 1 to BYTES bytes to words of BYTES, the first byte lowest; the word leaves four cycles after the
// piece that fills it. After the last piece comes a word with what is left, if anything is, and then one idle
// cycle at least has to come in. Moves only in cycles with `enable`.
//
// A piece is turned to where it goes. Its bytes behind the end of the word come round to the front of the next: so
// they are kept in place, with anything behind them, which later pieces overwrite.
module byte_joiner #(
  parameter int BYTES = 16  // a power of 2, 8 or more
) (
  input  logic        clk,
  input  logic        rst,
  input  logic        enable,
  // With no piece: the next one goes to `begin_at`, behind zeros; what came before has filled its word.
  input  logic        begin_valid,
  input  logic [$clog2(BYTES)-1:0] begin_at,
  input  logic        in_valid,
  input  logic        in_last,
  input  logic [$clog2(BYTES):0] in_bytes,
  input  logic [$clog2(BYTES)-1:0] in_skip,  // bytes below the piece's
  input  logic [8*BYTES-1:0] in_data,   // beside its bytes anything
  output logic        out_valid,
  output logic        out_last,
  output logic [$clog2(BYTES):0] out_bytes,
  output logic [8*BYTES-1:0] out_data   // above its bytes anything
);
  localparam int B = $clog2(BYTES);

  // 1: where the piece goes.
  logic        valid1, last1, fills1, begins1;
  logic [B-1:0] at, turn1, offset1, end1;
  logic [B:0]  end_next;
  logic [8*BYTES-1:0] data1;
  assign end_next = {1'b0, at} + in_bytes;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid1 <= 1'b0;
      begins1 <= 1'b0;
      at <= '0;
    end else if (enable) begin
      valid1 <= in_valid;
      begins1 <= begin_valid;
      if (begin_valid) at <= begin_at;
      else if (in_valid) at <= in_last ? '0 : end_next[B-1:0];
    end
    if (enable) begin
      last1 <= in_last;
      turn1 <= at - in_skip;
      offset1 <= at;
      end1 <= end_next[B-1:0];
      fills1 <= end_next[B];
      data1 <= in_data;
    end
  end

  // 2, 3: turned, by bytes below 4 and by fours. `kept` are the bytes of the word that stood before.
  logic        valid2, last2, fills2, begins2, valid3, last3, fills3, begins3;
  logic [B-1:2] turn2;
  logic [B-1:0] offset2, end2, end3;
  logic [8*BYTES-1:0] data2, data3;
  logic [BYTES-1:0] kept3, taken3;
  integer i, k;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid2 <= 1'b0;
      valid3 <= 1'b0;
    end else if (enable) begin
      valid2 <= valid1;
      valid3 <= valid2;
    end
    if (enable) begin
      last2 <= last1;
      fills2 <= fills1;
      begins2 <= begins1;
      turn2 <= turn1[B-1:2];
      offset2 <= offset1;
      end2 <= end1;
      for (i = 0; i < BYTES; i = i + 1)
        for (k = 0; k < 4; k = k + 1)
          if (turn1[1:0] == 2'(k)) data2[8*i+:8] <= data1[8*((i+BYTES-k)%BYTES)+:8];

      last3 <= last2;
      fills3 <= fills2;
      begins3 <= begins2;
      end3 <= end2;
      for (i = 0; i < BYTES; i = i + 1) begin
        for (k = 0; k < BYTES / 4; k = k + 1)
          if (turn2 == (B-2)'(k)) data3[8*i+:8] <= data2[8*((i+BYTES-4*k)%BYTES)+:8];
        // Without a piece all are: what is left after the last one.
        kept3[i] <= ~valid2 | B'(i) < offset2;
        taken3[i] <= valid2 & (fills2 | B'(i) >= offset2);
      end
    end
  end

  // 4: gathered.
  logic [8*BYTES-1:0] gathered;
  logic        rest4;
  logic [B-1:0] end4;
  always_ff @(posedge clk) begin
    if (rst) begin
      out_valid <= 1'b0;
      rest4 <= 1'b0;
    end else if (enable) begin
      out_valid <= rest4 | (valid3 & fills3);
      rest4 <= valid3 & last3 & |end3;
    end
    if (enable) begin
      out_last <= rest4 | (last3 & ~|end3);
      out_bytes <= rest4 ? {1'b0, end4} : (B+1)'(BYTES);
      end4 <= end3;
      for (i = 0; i < BYTES; i = i + 1) begin
        if (kept3[i]) out_data[8*i+:8] <= gathered[8*i+:8];
        else out_data[8*i+:8] <= data3[8*i+:8];
      end
    end
    for (i = 0; i < BYTES; i = i + 1) begin
      if (enable & begins3) gathered[8*i+:8] <= 8'd0;
      else if (enable & taken3[i]) gathered[8*i+:8] <= data3[8*i+:8];
    end
  end
endmodule
