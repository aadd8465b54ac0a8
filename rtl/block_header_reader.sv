// SPDX-License-Identifier: BSD-3-Clause
// The header of a block, word by word, and whether its counts fit each other.
module block_header_reader #(
    parameter int BLOCK_BITS = 12
) (
    input  logic                  clk,
    input  logic                  takes,          // word `at`
    input  logic [           2:0] at,
    input  logic [          31:0] bytes,
    input  logic                  checks,         // one cycle after the last word
    input  logic [          24:0] max_values,
    input  logic                  is_first_block,
    output logic [           1:0] codebook,
    output logic [           3:0] offline_codebook,
    output logic                  block_restart,
    output logic                  block_has_step,
    output logic                  block_is_last,
    output logic [          31:0] values,
    output logic [          31:0] side,           // bytes
    output logic [          31:0] payload,        // bytes
    // From the cycle after `checks` on.
    output logic                  has_values,
    output logic                  is_refused,
    output logic                  is_beyond,      // raw, or with extra bits
    output logic [  BLOCK_BITS:0] block_values,
    output logic [  BLOCK_BITS:0] block_symbols,
    output logic [BLOCK_BITS+2:0] block_side_bytes
);
  logic [31:0] symbols;
  logic [32:0] min_payload, max_side_bytes;
  logic is_bad, has_bad_counts;
  assign is_refused = is_bad || has_bad_counts || (!has_values && !block_is_last) ||
      (has_values && is_first_block && !(block_restart && block_has_step)) ||
      (has_values && {1'b0, side} > max_side_bytes);
  always_ff @(posedge clk) begin
    if (takes) begin
      unique case (at)
        3'd0: begin
          codebook <= bytes[17:16];
          block_restart <= bytes[18];
          block_has_step <= bytes[19];
          block_is_last <= bytes[20];
          offline_codebook <= bytes[27:24];
          is_beyond <= bytes[15:0] == 16'h424e && !bytes[23] && bytes[22:21] != '0;
          is_bad <= bytes[15:0] != 16'h424e || bytes[23] || bytes[17:16] == 2'd3 ||
              bytes[31:28] != '0 || (bytes[17:16] != neve_pkg::CODEBOOK_OFFLINE && bytes[27:24] != '0);
        end
        3'd1: values <= bytes;
        3'd2: symbols <= bytes;
        3'd3: side <= bytes;
        3'd4: begin
          payload <= bytes;
          min_payload <= {1'b0, side} + (block_has_step ? 33'd16 : 33'd0);
        end
        default: ;
      endcase
    end
    if (checks) begin
      block_values <= values[BLOCK_BITS:0];
      block_symbols <= symbols[BLOCK_BITS:0];
      block_side_bytes <= side[BLOCK_BITS+2:0];
      has_values <= values != '0;
      has_bad_counts <= values > 32'(max_values) || symbols > values ||
          {1'b0, payload} < min_payload || payload > {4'b0, max_values, 3'b0} + 32'd2064;
      // No entry of the side stream has more than 6 bytes.
      max_side_bytes <= {values[30:0], 2'b0} + {1'b0, values[30:0], 1'b0};
    end
  end
endmodule
