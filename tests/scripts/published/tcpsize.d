/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes of segments. */
tcp:::send
{
	this->size = (uint32_t)args[2]->ip_plength - args[4]->tcp_offset;
	@sent[args[2]->ip_daddr] = quantize(this->size);
	@linear = lquantize(this->size, 0, 2000, 500);
}
