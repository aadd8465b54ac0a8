// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a stream back to float32 values, as TypedDecoder in src/stream/decoder.cpp: codes to symbols, side stream,
// and Lorenzo prediction in 1, 2 or 3 directions undone, direction by direction as lorenzo.sv takes them:
//   d2 = r + d2(z-1), d1 = d2 + d1(y-1), p = d1 + p(x-1).
// A code's bits take a cycle each, a value 5 at least, one from the side stream about 35, one of a run 4.
//
// Whoever reads the stream gives the block's header, its book as lengths, its codes and its side stream, and sees what
// the block left over. Where its codes or its side stream end early, the lane waits.
module decoder_lane #(
    parameter int LINE_BITS  = 12,  // lines have at most 2^LINE_BITS values
    parameter int PLANE_BITS = 12   // and planes 2^PLANE_BITS, not fewer
) (
    input  logic                            clk,
    input  logic                            rst,
    // Settings, constant while a block is decoded; those of quantizer.sv.
    input  logic                            has_step,
    input  logic [                    23:0] inverse,
    input  logic [                     8:0] inverse_shift,
    input  logic [                    23:0] step,
    input  logic [                     7:0] step_exponent,
    input  logic                            is_power,
    input  logic                            has_fill,
    input  logic [                    31:0] fill,
    input  logic                            limit_write,
    input  logic [                     4:0] limit_addr,
    input  logic [                    27:0] limit_data,
    input  logic [                     1:0] dims,
    input  logic [           LINE_BITS-1:0] line_last,      // values of a line, less 1
    input  logic [          PLANE_BITS-1:0] plane_last,     // lines of a plane, less 1
    input  logic [            PLANE_BITS:0] plane_values,   // of a plane
    // A book: `load`, then the lengths of symbols 0 to 1023.
    input  logic                            load,
    input  logic                            length_valid,
    output logic                            length_ready,
    input  logic [neve_pkg::LENGTH_BITS-1:0] length,
    output logic                            loaded,
    // A block, when the one before is done and its book is loaded.
    input  logic                            start,
    input  logic [                    24:0] block_values,
    input  logic [                    24:0] block_symbols,
    input  logic                            block_restart,
    output logic                            done,           // for one cycle: its last value is on its way
    output logic                            failed,         // until the next start: codes or runs do not fit the block
    input  logic                            code_valid,
    output logic                            code_ready,
    input  logic [                    31:0] code_word,
    input  logic                            side_valid,
    output logic                            side_ready,
    input  logic [                    15:0] side_half,      // two for a value, one for a run, low half first
    // Values leave up to 16 cycles after out_ready has gone.
    output logic                            out_valid,
    input  logic                            out_ready,
    output logic [                    31:0] out_value
);
  localparam int S = neve_pkg::SYMBOL_BITS;

  // --- symbols -----------------------------------------------------------------------------------------------------
  logic symbol_valid, symbol_ready, symbols_done, no_code;
  logic [S-1:0] symbol;
  code_decoder codes (
      .clk,
      .rst,
      .load,
      .length_valid,
      .length_ready,
      .length,
      .loaded,
      .start,
      .symbols(block_symbols),
      .word_valid(code_valid),
      .word_ready(code_ready),
      .word(code_word),
      .symbol_valid,
      .symbol_ready,
      .symbol,
      .done(symbols_done),
      .failed(no_code)
  );

  // --- side stream: does the value have a quantum? -----------------------------------------------------------------
  logic quantize, quantized, has_no_quantum;
  logic signed [28:0] side_quantum;
  logic [31:0] exact_value;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [31:0] quantized_value;
  /* verilator lint_on UNUSEDSIGNAL */
  quantizer quantizer (
      .clk,
      .rst,
      .has_step,
      .inverse,
      .inverse_shift,
      .step,
      .step_exponent,
      .is_power,
      .has_fill,
      .fill,
      .limit_write,
      .limit_addr,
      .limit_data,
      .in_valid(quantize),
      .in_data(exact_value),
      .out_valid(quantized),
      .out_special(has_no_quantum),
      .out_quantum(side_quantum),
      .out_data(quantized_value)
  );

  // --- values --------------------------------------------------------------------------------------------------------
  localparam logic [3:0] IDLE = 4'd0;
  localparam logic [3:0] NEXT = 4'd1;
  localparam logic [3:0] ADD_PLANE = 4'd2;
  localparam logic [3:0] ADD_LINE = 4'd3;
  localparam logic [3:0] ADD_BEFORE = 4'd4;
  localparam logic [3:0] STORE = 4'd5;
  localparam logic [3:0] SIDE_LOW = 4'd6;
  localparam logic [3:0] SIDE_HIGH = 4'd7;
  localparam logic [3:0] SIDE_QUANTIZE = 4'd8;
  localparam logic [3:0] SIDE_WAIT = 4'd9;
  localparam logic [3:0] SIDE_RUN = 4'd10;
  localparam logic [3:0] HELD_BEFORE = 4'd11;
  localparam logic [3:0] HELD_LINE = 4'd12;
  logic [3:0] state;

  logic [24:0] left;  // values
  logic [15:0] run_left;
  logic is_exact;
  logic [31:0] residual, line_difference, quantum;  // d2, d1 and p of the value at hand
  logic [31:0] hold;  // p of the value before, whatever its line
  logic [31:0] behind;  // p(x-1)

  // The value's place, and how far a restart lies back: what lies before counts 0.
  logic [LINE_BITS-1:0] x;
  logic [PLANE_BITS-1:0] y, plane_at;
  logic [PLANE_BITS:0] since;
  logic has_line, has_plane;
  logic [31:0] line_read, plane_read, line_term, plane_term;
  assign line_term = has_line ? line_read : '0;
  assign plane_term = has_plane ? plane_read : '0;

  logic stores;
  assign stores = state == STORE && out_ready;
  block_ram #(
      .WIDTH(32),
      .DEPTH(1 << LINE_BITS)
  ) line (
      .clk,
      .write(stores),
      .write_addr(x),
      .write_data(line_difference),
      .read_addr(x),
      .read_data(line_read)
  );
  block_ram #(
      .WIDTH(32),
      .DEPTH(1 << PLANE_BITS)
  ) plane (
      .clk,
      .write(stores),
      .write_addr(plane_at),
      .write_data(residual),
      .read_addr(plane_at),
      .read_data(plane_read)
  );

  dequantizer dequantizer (
      .clk,
      .rst,
      .has_step,
      .step,
      .step_exponent,
      .in_valid(stores),
      .in_exact(is_exact),
      .in_value(exact_value),
      .in_quantum(quantum),
      .out_valid,
      .out_value
  );

  assign symbol_ready = state == NEXT && left != '0 && run_left == '0 && settled == '0;
  assign side_ready = state == SIDE_LOW || state == SIDE_HIGH || state == SIDE_RUN;
  assign quantize = state == SIDE_QUANTIZE;
  logic [1:0] settled;  // cycles until memories and flags know the new place

  always_ff @(posedge clk) begin
    done <= 1'b0;
    if (settled != '0) settled <= settled - 2'd1;
    has_line <= dims != 2'd1 && (since > (PLANE_BITS + 1)'(line_last)) && (dims == 2'd2 || y != '0);
    has_plane <= dims == 2'd3 && since >= plane_values;

    unique case (state)
      NEXT: begin
        if (no_code) begin
          failed <= 1'b1;
          done <= 1'b1;
          state <= IDLE;
        end else if (left == '0) begin
          // A run or symbols behind the last value.
          failed <= run_left != '0 || !symbols_done;
          done <= 1'b1;
          state <= IDLE;
        end else if (settled == '0) begin
          if (run_left != '0) begin
            run_left <= run_left - 16'd1;
            state <= HELD_BEFORE;
          end else if (symbol_valid) begin
            residual <= 32'(symbol) - 32'(neve_pkg::ZERO);
            is_exact <= symbol == S'(neve_pkg::ESCAPE);
            state <= symbol == S'(neve_pkg::ESCAPE) ? SIDE_LOW : ADD_PLANE;
          end else if (symbols_done) begin
            failed <= 1'b1;
            done <= 1'b1;
            state <= IDLE;
          end
        end
      end

      ADD_PLANE: begin
        residual <= residual + plane_term;
        state <= ADD_LINE;
      end
      ADD_LINE: begin
        line_difference <= residual + line_term;
        state <= ADD_BEFORE;
      end
      ADD_BEFORE: begin
        quantum <= line_difference + behind;
        state <= STORE;
      end

      SIDE_LOW: begin
        if (side_valid) begin
          exact_value[15:0] <= side_half;
          state <= SIDE_HIGH;
        end
      end
      SIDE_HIGH: begin
        if (side_valid) begin
          exact_value[31:16] <= side_half;
          state <= SIDE_QUANTIZE;
        end
      end
      SIDE_QUANTIZE: state <= SIDE_WAIT;
      SIDE_WAIT: begin
        if (quantized) begin
          if (!has_no_quantum) hold <= 32'(side_quantum);
          state <= has_no_quantum ? SIDE_RUN : HELD_BEFORE;
        end
      end
      SIDE_RUN: begin
        if (side_valid) begin
          run_left <= side_half;
          state <= HELD_BEFORE;
        end
      end

      // The quantum is known: what memories keep follows from it.
      HELD_BEFORE: begin
        quantum <= hold;
        line_difference <= hold - behind;
        state <= HELD_LINE;
      end
      HELD_LINE: begin
        residual <= line_difference - line_term;
        state <= STORE;
      end

      STORE: begin
        if (out_ready) begin
          hold <= quantum;
          behind <= quantum;
          left <= left - 25'd1;
          if (!since[PLANE_BITS]) since <= since + (PLANE_BITS + 1)'(1);
          x <= x + LINE_BITS'(1);
          if (x == line_last && dims != 2'd1) begin
            x <= '0;
            behind <= '0;
            y <= y == plane_last ? '0 : y + PLANE_BITS'(1);
          end
          plane_at <= {1'b0, plane_at} == plane_values - (PLANE_BITS + 1)'(1) ? '0 : plane_at + PLANE_BITS'(1);
          settled <= 2'd2;
          state <= NEXT;
        end
      end
      default: ;
    endcase

    if (start) begin
      left <= block_values;
      run_left <= '0;
      failed <= 1'b0;
      settled <= 2'd2;
      if (block_restart) begin
        since <= '0;
        hold <= '0;
        behind <= '0;
      end
      state <= NEXT;
    end
    if (rst) begin
      x <= '0;
      y <= '0;
      plane_at <= '0;
      done <= 1'b0;
      state <= IDLE;
    end
  end
endmodule
