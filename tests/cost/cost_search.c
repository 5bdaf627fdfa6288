/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Searches for the most expensive frame: changes recipes at random and keeps those whose frames cost most, the best
 * one for each kind of operation, so that one expensive kind does not displace the others.
 *
 *	cost_search SECONDS LIMIT [SEED]
 *		searches for SECONDS of processor time, and prints the most expensive recipes; fails if a frame costs
 *		more than LIMIT ns (0: no limit).  Progress is on standard error.
 *	cost_search RECIPE
 *		measures a recipe that the search has printed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cost/cost_meter.h"

enum { NICHES = COST_KINDS * COST_PAYLOADS, CONFIRMED = 3, RUNS = 3 };

struct cost_niche {
	struct cost_recipe recipe;
	double ns;
};

static struct cost_frame frames[COST_FRAMES_MAX];
static struct cost_niche niches[NICHES];
static struct cost_meter *meters[2];
static uint64_t random_state;

static unsigned
random_below(unsigned limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((random_state >> 33) % limit);
}

/* --- recipes as text --- */

static void
recipe_print(FILE *to, const struct cost_recipe *recipe)
{
	fprintf(to, "%u:%u:%u", recipe->count, recipe->loop, recipe->frames);
	for (unsigned i = 0; i < recipe->count; i++) {
		putc(':', to);
		for (unsigned b = 0; b < sizeof recipe->ops[i]; b++)
			fprintf(to, "%02x", ((const uint8_t *)&recipe->ops[i])[b]);
	}
	putc('\n', to);
}

static bool
recipe_parse(struct cost_recipe *recipe, const char *text)
{
	int at = 0;

	if (sscanf(text, "%u:%u:%u%n", &recipe->count, &recipe->loop, &recipe->frames, &at) != 3 ||
	    recipe->count == 0 || recipe->count > COST_OPS_MAX || recipe->loop >= recipe->count)
		return false;
	for (unsigned i = 0; i < recipe->count; i++) {
		if (text[at++] != ':')
			return false;
		for (unsigned b = 0; b < sizeof recipe->ops[i]; b++, at += 2)
			if (sscanf(text + at, "%2hhx", &((uint8_t *)&recipe->ops[i])[b]) != 1)
				return false;
	}
	return text[at] == '\0';
}

/* --- changes --- */

/* A byte that is 0, which is the plain value of every field, in three of four cases. */
static uint8_t
random_byte(void)
{
	return (uint8_t)(random_below(4) == 0 ? random_below(256) : 0);
}

static struct cost_op
random_op(void)
{
	struct cost_op op;

	for (unsigned b = 0; b < sizeof op; b++)
		((uint8_t *)&op)[b] = random_byte();
	op.kind = (uint8_t)(random_below(2) != 0 ? COST_TCP : random_below(COST_KINDS));
	op.repeat = (uint8_t)random_below(12);
	op.length = (uint8_t)random_below(8);
	op.payload = (uint8_t)random_below(COST_PAYLOADS);
	if (op.flags == 0)
		op.flags = 16;
	if (op.step == 0)
		op.step = (uint8_t)(1 | op.repeat << 4);
	return op;
}

static void
recipe_change(struct cost_recipe *recipe)
{
	unsigned at = random_below(recipe->count);
	struct cost_op *op = &recipe->ops[at];

	switch (random_below(8)) {
	case 0: /* another operation */
		if (recipe->count == COST_OPS_MAX)
			return;
		memmove(op + 1, op, (recipe->count - at) * sizeof *op);
		recipe->count++;
		*op = random_op();
		break;
	case 1:
		if (recipe->count == 1)
			return;
		memmove(op, op + 1, (recipe->count - at - 1) * sizeof *op);
		recipe->count--;
		break;
	case 2: /* the same again */
		if (recipe->count == COST_OPS_MAX)
			return;
		memmove(op + 1, op, (recipe->count - at) * sizeof *op);
		recipe->count++;
		break;
	case 3:
		recipe->loop = random_below(recipe->count);
		break;
	case 7:
		recipe->frames = 256u << (random_below(4) == 0 ? random_below(5) : random_below(2));
		break;
	case 4: /* a field of a new operation */
	{
		struct cost_op other = random_op();
		unsigned b = random_below(sizeof other);

		((uint8_t *)op)[b] = ((uint8_t *)&other)[b];
		break;
	}
	case 5:
		((uint8_t *)op)[random_below(sizeof *op)] = (uint8_t)random_below(256);
		break;
	default: {
		uint8_t *byte = &((uint8_t *)op)[random_below(sizeof *op)];

		*byte = (uint8_t)(*byte + (random_below(2) != 0 ? 1 : -1));
		break;
	}
	}
	if (recipe->loop >= recipe->count)
		recipe->loop = recipe->count - 1;
}

static struct cost_recipe
recipe_new(void)
{
	struct cost_recipe recipe = {.count = 1 + random_below(3), .frames = 256u << random_below(2)};

	/* Operations that are about the same flows depend on each other. */
	for (unsigned i = 0; i < recipe.count; i++) {
		recipe.ops[i] = random_op();
		if (i > 0 && random_below(4) != 0) {
			recipe.ops[i].step = recipe.ops[0].step;
			recipe.ops[i].repeat = recipe.ops[0].repeat;
			recipe.ops[i].flow = recipe.ops[0].flow;
			recipe.ops[i].port = recipe.ops[0].port;
			recipe.ops[i].wrap = recipe.ops[0].wrap;
		}
	}
	if (random_below(2) != 0)
		recipe.ops[0].kind = COST_HANDSHAKE;
	recipe.loop = random_below(recipe.count);
	return recipe;
}

/* --- the search --- */

/* The cost while every probe is enabled, which is rarely smaller than without. */
static double
recipe_traced_cost(const struct cost_recipe *recipe, unsigned runs)
{
	unsigned count = cost_frames_make(recipe, frames);

	return cost_meter_measure(meters[1], frames, count, runs, NULL).worst_ns;
}

static double
recipe_cost(const struct cost_recipe *recipe, unsigned runs, double limit)
{
	unsigned count = cost_frames_make(recipe, frames);
	double worst = 0;

	for (unsigned traced = 0; traced < 2; traced++) {
		double ns = cost_meter_confirm(meters[traced], frames, count, runs, NULL, limit).worst_ns;

		worst = ns > worst ? ns : worst;
	}
	return worst;
}

static struct cost_niche *
niche_of(const struct cost_recipe *recipe)
{
	const struct cost_op *last = &recipe->ops[recipe->count - 1];
	unsigned kind = last->kind % COST_KINDS;

	return &niches[kind * COST_PAYLOADS + (kind == COST_TCP ? last->payload % COST_PAYLOADS : 0)];
}

static const struct cost_recipe *
random_niche(void)
{
	for (unsigned i = 0; i < 1000; i++) {
		const struct cost_niche *niche = &niches[random_below(NICHES)];

		if (niche->ns > 0)
			return &niche->recipe;
	}
	return NULL;
}

static void
search_step(void)
{
	const struct cost_recipe *parent = random_below(3) == 0 ? NULL : random_niche();
	struct cost_recipe recipe = parent != NULL ? *parent : recipe_new();
	struct cost_niche *niche;
	double ns;

	for (unsigned i = parent != NULL ? 1 + random_below(3) : 0; i > 0; i--)
		recipe_change(&recipe);
	niche = niche_of(&recipe);
	if (recipe_traced_cost(&recipe, 1) <= niche->ns)
		return;
	ns = recipe_traced_cost(&recipe, 3);
	if (ns <= niche->ns)
		return;
	*niche = (struct cost_niche){recipe, ns};
	if (ns > 5000) {
		fprintf(stderr, "%.0f ns a frame: ", ns);
		recipe_print(stderr, &recipe);
	}
}

/* Measures the most expensive recipes again, several times; drops the others. */
static void
search_confirm(double limit)
{
	bool confirmed[NICHES] = {false};

	for (unsigned n = 0; n < CONFIRMED; n++) {
		unsigned worst = NICHES;

		for (unsigned i = 0; i < NICHES; i++)
			if (!confirmed[i] && niches[i].ns > 0 &&
			    (worst == NICHES || niches[i].ns > niches[worst].ns))
				worst = i;
		if (worst == NICHES)
			break;
		confirmed[worst] = true;
		niches[worst].ns = recipe_cost(&niches[worst].recipe, RUNS, limit);
	}
	for (unsigned i = 0; i < NICHES; i++)
		if (!confirmed[i])
			niches[i].ns = 0;
}

static const struct cost_niche *
search_for(double seconds, double limit)
{
	struct cost_niche *best = &niches[0];
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	unsigned long steps = 0;

	while (clock() < end) {
		search_step();
		steps++;
	}
	printf("%lu sequences\n", steps);
	search_confirm(limit);
	for (unsigned i = 0; i < NICHES; i++)
		if (niches[i].ns > best->ns)
			best = &niches[i];
	return best;
}

int
main(int argc, char **argv)
{
	double slowness = cost_meter_slowness(), limit = argc > 2 ? atof(argv[2]) * slowness : 0;
	const struct cost_niche *best;
	struct cost_recipe recipe;

	for (unsigned traced = 0; traced < 2; traced++)
		meters[traced] = cost_meter_new(traced != 0);
	if (argc == 2 && recipe_parse(&recipe, argv[1])) {
		printf("%.0f ns a frame\n", recipe_cost(&recipe, RUNS, 0));
		return 0;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: cost_search SECONDS LIMIT [SEED] | RECIPE\n");
		return 2;
	}
	random_state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	best = search_for(atof(argv[1]), limit);
	for (unsigned i = 0; i < NICHES; i++)
		if (niches[i].ns > 0) {
			printf("%.0f ns a frame: ", niches[i].ns);
			recipe_print(stdout, &niches[i].recipe);
		}
	printf("most expensive frame: %.0f ns; slowness of the machine: %.2f\n", best->ns, slowness);
	return (limit > 0 && best->ns > limit) || best->ns == 0;
}
