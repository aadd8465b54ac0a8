// SPDX-License-Identifier: BSD-3-Clause
// The joiner as the way out of the framer has it, behind an AXI4-Stream handshake: any one bit of any one message
// leaves in its place, a message has as many bytes as its pieces, and none is left behind; words are whole before the
// last one of a message; what is valid stays as it is until it is taken.
module byte_joiner_formal (
    input logic        clk,
    input logic        in_valid,
    input logic        in_last,
    input logic [ 3:0] in_bytes,
    input logic [ 2:0] in_skip,
    input logic [63:0] in_data,
    input logic        out_ready
);
  logic started = 1'b0;
  logic out_valid, out_last, enable, takes, gives;
  logic [3:0] out_bytes;
  logic [63:0] out_data;
  logic was_last = 1'b0;  // an idle cycle has to come in
  assign enable = ~out_valid | out_ready;
  assign takes = started & in_valid & enable & ~was_last;
  assign gives = started & out_valid & out_ready;
  byte_joiner #(
      .BYTES(8)
  ) dut (
      .clk,
      .rst(!started),
      .enable,
      .begin_valid(1'b0),
      .begin_at(3'd0),
      .in_valid(takes),
      .in_last,
      .in_bytes,
      .in_skip,
      .in_data,
      .out_valid,
      .out_last,
      .out_bytes,
      .out_data
  );

  // Registers without a beginning: any bit, any message, for the whole run.
  logic [6:0] watched_byte;
  logic [1:0] watched_message;
  logic [1:0] in_message = 2'd0;
  logic [1:0] out_message = 2'd0;
  logic [6:0] in_count = 7'd0;   // bytes of the message at the input
  logic [6:0] out_count = 7'd0;  // of that at the output
  logic [6:0] message_bytes;     // of the watched one
  logic is_ended = 1'b0;
  logic       expected;
  logic [2:0] watched_bit;  // of its byte
  logic is_expected = 1'b0;
  logic [6:0] place, out_place;
  logic [2:0] drained = 3'd0;  // moves since a last piece came in
  assign place = watched_byte - in_count;
  assign out_place = watched_byte - out_count;
  logic waited = 1'b0;
  logic waiting_last;
  logic [3:0] waiting_bytes;
  logic [63:0] waiting;

  always_ff @(posedge clk) begin
    started <= 1'b1;
    watched_byte <= watched_byte;
    watched_bit <= watched_bit;
    watched_message <= watched_message;
    if (started & enable) was_last <= takes & in_last;
    if (started & enable) drained <= takes & in_last ? 3'd1 : drained == 3'd0 | drained == 3'd6 ? drained : drained + 3'd1;
    if (takes) begin
      in_count   <= in_last ? 7'd0 : in_count + {3'd0, in_bytes};
      in_message <= in_message + {1'd0, in_last};
      if (in_message == watched_message) begin
        if (watched_byte >= in_count && place < {3'd0, in_bytes}) begin
          expected <= in_data[{in_skip+place[2:0],watched_bit}];
          is_expected <= 1'b1;
        end
        if (in_last) begin
          message_bytes <= in_count + {3'd0, in_bytes};
          is_ended <= 1'b1;
        end
      end
    end
    if (gives) begin
      out_count   <= out_last ? 7'd0 : out_count + {3'd0, out_bytes};
      out_message <= out_message + {1'd0, out_last};
    end
    waited <= started & out_valid & ~out_ready;
    waiting_last <= out_last;
    waiting_bytes <= out_bytes;
    waiting <= out_data;
  end

  always_comb begin
    assume (in_bytes >= 4'd1 && {1'b0, in_skip} + {1'b0, in_bytes} <= 5'd8);
  end
  always_comb begin
    if (started) begin
      if (waited) begin
        assert (out_valid);
        assert (out_last == waiting_last && out_bytes == waiting_bytes && out_data == waiting);
      end
      if (out_valid) begin
        assert (out_bytes != 4'd0 && out_bytes <= 4'd8);
        assert (out_last || out_bytes == 4'd8);
        if (out_message == watched_message) begin
          if (watched_byte >= out_count && out_place < {3'd0, out_bytes} && is_expected)
            assert (out_data[{out_place[2:0],watched_bit}] == expected);
          if (out_last) assert (is_ended && out_count + {3'd0, out_bytes} == message_bytes);
          else assert (!is_ended || out_count + 7'd8 < message_bytes);
        end
      end
      // A last piece has left within six moves, its rest included.
      if (drained == 3'd6 && in_count == 7'd0) assert (out_message == in_message);
    end
  end
endmodule
