// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a stream back to float32 values, as TypedDecoder in src/core/stream/decoder.cpp: a value a cycle where its code is
// short and its line has 8 values at least (code_decoder.sv, lorenzo_inverse.sv); values beside the codes as fast as
// they are read, half of one a cycle (side_entries.sv).
//
// Whoever reads the stream gives the block's header, the next codebook as lengths, the block's codes and its side
// stream.
module decoder_lane #(
    parameter int BLOCK_BITS = 16,  // blocks have at most 2^BLOCK_BITS values
    parameter int LINE_BITS  = 12,  // lines 2^LINE_BITS
    parameter int PLANE_BITS = 12   // and planes 2^PLANE_BITS, not fewer
) (
    input  logic                            clk,
    input  logic                            rst,            // for as long as quantizer.sv wants it
    // Settings, constant while a block is decoded and 32 cycles after it.
    input  neve_pkg::quantizer_settings_t   settings,
    input  logic [                     1:0] dims,
    input  logic [           LINE_BITS-1:0] line_last,      // values of a line, less 1
    input  logic [                    15:0] plane_last,     // lines of a plane, less 1
    input  logic [            PLANE_BITS:0] plane_values,   // of a plane; 0: no value looks back as far
    // The next codebook: `load`, then the lengths of symbols 0 to 1023, while blocks are decoded by the one before.
    input  logic                            load,
    output logic                            load_ready,
    input  logic                            length_valid,
    output logic                            length_ready,
    input  logic [neve_pkg::LENGTH_BITS-1:0] length,
    output logic                            loaded,
    output logic                            complete,       // with loaded: the lengths are those of a complete code
    // A block, when the one before is done.
    input  logic                            start,
    input  logic                            takes_codebook, // the next codebook is its; loaded and complete
    input  logic                            block_restart,
    input  logic [            BLOCK_BITS:0] block_values,
    input  logic [            BLOCK_BITS:0] block_symbols,
    input  logic [          BLOCK_BITS+1:0] code_bytes,
    input  logic [          BLOCK_BITS+2:0] side_bytes,
    output logic                            done,           // for one cycle: its last value is on its way
    output logic                            failed,         // until the next start: codes or entries do not fit the block
    input  logic                            code_valid,
    output logic                            code_ready,
    input  logic [                    31:0] code_word,
    input  logic                            side_valid,
    output logic                            side_ready,
    input  logic [                    15:0] side_half,      // two for a value, one for a run, low half first
    // Values leave up to 24 cycles after out_ready has gone.
    output logic                            out_valid,
    input  logic                            out_ready,
    output logic [                    31:0] out_value
);
  localparam int S = neve_pkg::SYMBOL_BITS;

  // --- symbols -----------------------------------------------------------------------------------------------------
  logic symbol_valid, symbol_ready, is_escape, symbols_done, codes_left, no_code;
  logic [S-1:0] symbol;
  code_decoder #(
      .BLOCK_BITS(BLOCK_BITS)
  ) codes (
      .clk,
      .rst,
      .load,
      .load_ready,
      .length_valid,
      .length_ready,
      .length,
      .loaded,
      .complete,
      .start,
      .takes_codebook,
      .symbols(block_symbols),
      .code_bytes,
      .word_valid(code_valid),
      .word_ready(code_ready),
      .word(code_word),
      .symbol_valid,
      .symbol_ready,
      .symbol,
      .symbol_is_escape(is_escape),
      .done(symbols_done),
      .left_over(codes_left),
      .failed(no_code)
  );

  // --- side stream -------------------------------------------------------------------------------------------------
  logic entry_valid, entry_ready, entry_special, entries_done, entries_ended;
  logic [31:0] entry_value;
  logic [28:0] entry_quant_code;
  logic [15:0] entry_run;
  side_entries #(
      .BLOCK_BITS(BLOCK_BITS)
  ) entries (
      .clk,
      .rst,
      .settings,
      .start,
      .side_bytes,
      .side_valid,
      .side_ready,
      .side_half,
      .entry_valid,
      .entry_ready,
      .entry_special,
      .entry_value,
      .entry_quant_code,
      .entry_run,
      .done(entries_done),
      .ended(entries_ended)
  );

  // --- values in order ---------------------------------------------------------------------------------------------
  localparam logic [1:0] IDLE = 2'd0;
  localparam logic [1:0] RUN = 2'd1;
  localparam logic [1:0] SETTLE = 2'd2;  // counts take a cycle or two to come to an end
  logic [1:0] state;
  logic [2:0] settled;
  logic [BLOCK_BITS:0] left;  // values
  logic [15:0] run_left;
  logic has_left, in_run, is_due, goes, takes_symbol, takes_entry, is_short;
  // Values of short lines, one after the other: lorenzo_inverse.sv.
  localparam int APART = 8;
  logic [3:0] wait_left;
  assign goes = state == RUN && has_left && out_ready && is_due;
  assign takes_entry = goes && !in_run && symbol_valid && is_escape && entry_valid;
  assign takes_symbol = goes && !in_run && symbol_valid && !is_escape;
  assign symbol_ready = takes_entry || takes_symbol;
  assign entry_ready = takes_entry;

  logic valid0, known0, held0;
  logic [28:0] number0;
  logic [31:0] exact_value;  // of this value and, in a run, of those that follow
  always_ff @(posedge clk) begin
    is_short <= dims != 2'd1 && line_last < LINE_BITS'(APART - 1);
    valid0 <= (goes && in_run) || takes_symbol || takes_entry;
    known0 <= !in_run && is_escape && !entry_special;
    held0 <= in_run || (is_escape && entry_special);
    number0 <= in_run || (is_escape && entry_special) ? '0 :
        is_escape ? entry_quant_code : 29'(symbol) - 29'(neve_pkg::ZERO);
    if (takes_entry) exact_value <= entry_value;

    if (is_short) begin
      if (goes) begin
        wait_left <= 4'(APART);
        is_due <= 1'b0;
      end else begin
        wait_left <= wait_left - 4'd1;
        is_due <= is_due || wait_left == '0;
      end
    end else begin
      is_due <= 1'b1;
    end
    if (goes && in_run) begin
      run_left <= run_left - 16'd1;
      in_run <= run_left != 16'd1;
    end
    if (takes_entry) begin
      run_left <= entry_run;
      in_run <= entry_special && entry_run != '0;
    end
    if ((goes && in_run) || takes_symbol || takes_entry) begin
      left <= left - (BLOCK_BITS + 1)'(1);
      has_left <= left != (BLOCK_BITS + 1)'(1);
    end

    done <= 1'b0;
    settled <= '0;
    unique case (state)
      RUN: begin
        if (!has_left) state <= SETTLE;
        // Nothing comes any more that a value could be made of.
        if (no_code || (!in_run && (is_escape && symbol_valid ? entries_ended : symbols_done && !symbol_valid))) begin
          if (has_left) begin
            failed <= 1'b1;
            done <= 1'b1;
            state <= IDLE;
          end
        end
      end
      SETTLE: begin
        settled <= settled + 3'd1;
        if (settled[2]) begin
          failed <= no_code || in_run || !symbols_done || codes_left || !entries_done;
          done <= 1'b1;
          state <= IDLE;
        end
      end
      default: ;
    endcase

    if (start) begin
      left <= block_values;
      has_left <= block_values != '0;
      in_run <= 1'b0;
      failed <= 1'b0;
      state <= RUN;
    end
    if (start || rst) begin
      wait_left <= '0;
      is_due <= 1'b0;
      valid0 <= 1'b0;
    end
    if (rst) begin
      done <= 1'b0;
      state <= IDLE;
    end
  end

  logic [31:0] quant_code;
  logic quant_code_valid;
  lorenzo_inverse #(
      .LINE_BITS (LINE_BITS),
      .PLANE_BITS(PLANE_BITS)
  ) inverse_prediction (
      .clk,
      .rst,
      .dims,
      .line_last,
      .plane_last,
      .plane_values,
      .restart(start && block_restart),
      .in_valid(valid0),
      .in_known(known0),
      .in_held(held0),
      .in_number(number0),
      .out_valid(quant_code_valid),
      .out_quant_code(quant_code)
  );

  // What is given as it is goes beside the sums.
  localparam int BESIDE = 6;
  logic [BESIDE-1:0] is_exact;
  logic [31:0] value[BESIDE];
  always_ff @(posedge clk) begin
    is_exact <= {is_exact[BESIDE-2:0], known0 || held0};
    value[0] <= exact_value;
    for (int i = 1; i < BESIDE; i++) value[i] <= value[i-1];
  end
  dequantizer dequantizer (
      .clk,
      .rst,
      .step(settings.step),
      .in_valid(quant_code_valid),
      .in_exact(is_exact[BESIDE-1]),
      .in_value(value[BESIDE-1]),
      .in_quant_code(quant_code),
      .out_valid,
      .out_value
  );
endmodule
