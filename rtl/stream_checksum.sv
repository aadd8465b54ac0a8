// SPDX-License-Identifier: BSD-3-Clause
// The checksum of a header or block, piece by piece, against the one that it says. A piece is summed up two cycles after it
// was taken.
module stream_checksum (
    input  logic        clk,
    input  logic        begins,
    input  logic        sums_four,  // bytes taken in this cycle: four of them, or one
    input  logic        sums_one,
    input  logic        claims,     // they are the checksum itself, and no part of what it is of
    input  logic [31:0] bytes,
    output logic        is_right
);
  logic [31:0] crc, crc_of_four, crc_of_one, summed, claimed;
  logic four, one;
  crc_step #(
      .BYTES(4)
  ) crc_four (
      .state(crc),
      .data (summed),
      .next (crc_of_four)
  );
  crc_step #(
      .BYTES(1)
  ) crc_one (
      .state(crc),
      .data (summed[7:0]),
      .next (crc_of_one)
  );
  assign is_right = ~crc == claimed;
  always_ff @(posedge clk) begin
    four <= sums_four && !claims;
    one <= sums_one;
    summed <= bytes;
    if (claims) claimed <= bytes;
    if (begins) crc <= '1;
    else if (four) crc <= crc_of_four;
    else if (one) crc <= crc_of_one;
  end
endmodule
