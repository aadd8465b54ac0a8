// SPDX-License-Identifier: BSD-3-Clause
// How often symbols occur in a round, summed over its lanes, and in all rounds of a group: those whose counts a
// codebook of the stream's own is built from. Groups take turns at two banks.
module round_counts #(
  parameter int LANES = 1,
  parameter int BLOCK_BITS = 12
) (
  input  logic        clk,
  input  logic        begins,            // of a round's sums, until the first counts are read
  input  logic        sums_side,         // the lanes' sizes of side streams, in one cycle
  input  logic        count_read,        // of symbols from 0 on, one a cycle
  input  logic [LANES-1:0] active,       // lanes of the round
  input  logic [LANES*(BLOCK_BITS+1)-1:0] count_data,  // two cycles after count_read
  input  logic [LANES*(BLOCK_BITS+3)-1:0] side_bytes,
  input  logic        group_bank,
  input  logic        group_begins,      // what its bank holds is of another group
  output logic        sum_ends,
  output logic [28:0] side_bytes_now,
  // One cycle after the address.
  input  logic [9:0]  choice_addr,
  output logic [neve_pkg::COUNT_BITS-1:0] choice_count,
  input  logic        build_bank,
  input  logic [9:0]  build_addr,
  output logic [neve_pkg::COUNT_BITS-1:0] build_count
);
  localparam int COUNT_BITS = neve_pkg::COUNT_BITS;

  logic        sum_valid, side_sum_valid;
  logic [COUNT_BITS-1:0] sum;
  logic [28:0] side_sum;
  logic [2:1] reads;  // counts two cycles after their address
  adder_tree #(.N(LANES), .BITS(BLOCK_BITS + 1), .SUM_BITS(COUNT_BITS)) count_sum (
    .clk(clk), .in_valid(reads[2]), .takes(active), .in(count_data), .out_valid(sum_valid), .out(sum));
  adder_tree #(.N(LANES), .BITS(BLOCK_BITS + 3), .SUM_BITS(29)) side_bytes_sum (
    .clk(clk), .in_valid(sums_side), .takes(active), .in(side_bytes), .out_valid(side_sum_valid), .out(side_sum));

  logic [COUNT_BITS-1:0] round_sums [0:1023];
  logic [COUNT_BITS-1:0] group_sums [0:2047];
  logic [COUNT_BITS-1:0] group_read, sum1;
  logic [9:0]  sum_at, sum_at1;
  logic        sum_valid1;
  always_ff @(posedge clk) begin
    reads <= {reads[1], count_read};
    sum_valid1 <= sum_valid;
    sum1 <= sum;
    sum_at1 <= sum_at;
    if (begins) sum_at <= 10'd0;
    else if (sum_valid) sum_at <= sum_at + 10'd1;
    group_read <= group_sums[{group_bank, sum_at}];
    if (sum_valid1) begin
      round_sums[sum_at1] <= sum1;
      group_sums[{group_bank, sum_at1}] <= group_begins ? sum1 : group_read + sum1;
    end
    sum_ends <= sum_valid1 & &sum_at1;
    choice_count <= round_sums[choice_addr];
    build_count <= group_sums[{build_bank, build_addr}];
    if (side_sum_valid) side_bytes_now <= side_sum;
  end
endmodule
