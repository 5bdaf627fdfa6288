/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/observer_sink.h"

#include "observe/observer.h"
#include "probes/print/print.h"

static struct observer *
sink_observer(const struct frame_sink *sink)
{
	return ((const struct observer_sink *)sink)->observer;
}

static struct printer *
sink_printer(const struct frame_sink *sink)
{
	return ((const struct observer_sink *)sink)->printer;
}

static void
sink_take(struct frame_sink *sink, const struct frame *frames, unsigned count)
{
	observe_frames(sink_observer(sink), frames, count);
}

static void
sink_take_held(struct frame_sink *sink)
{
	observer_decide_held(sink_observer(sink));
}

static void
sink_populate_flows(struct frame_sink *sink, uint32_t flows)
{
	observer_populate_flows(sink_observer(sink), flows);
}

static void
sink_clear_flows(struct frame_sink *sink)
{
	observer_clear(sink_observer(sink));
}

static void
sink_advance_clock(struct frame_sink *sink, uint64_t now)
{
	observer_advance_clock(sink_observer(sink), now);
}

static void
sink_read_host_clock(struct frame_sink *sink, struct host_clock *clock)
{
	observer_read_host_clock(sink_observer(sink), clock);
}

static void
sink_poll_tracers(struct frame_sink *sink)
{
	observer_poll_tracers(sink_observer(sink));
}

static bool
sink_is_complete(const struct frame_sink *sink)
{
	return observer_is_complete(sink_observer(sink));
}

static bool
sink_flush_output(struct frame_sink *sink)
{
	struct printer *printer = sink_printer(sink);
	bool good = observer_flush_records(sink_observer(sink));

	if (printer == NULL)
		return good;
	printer_flush(printer);
	return good && printer_error(printer) == 0;
}

static bool
sink_has_output(const struct frame_sink *sink)
{
	return sink_printer(sink) != NULL && printer_is_waiting(sink_printer(sink));
}

static uint64_t
sink_output_dropped(const struct frame_sink *sink)
{
	return sink_printer(sink) != NULL ? printer_dropped(sink_printer(sink)) : 0;
}

static void
sink_stop_printing(struct frame_sink *sink)
{
	if (sink_printer(sink) != NULL)
		printer_stop(sink_printer(sink));
	((struct observer_sink *)sink)->printer = NULL;
}

static const struct frame_sink_ops observer_sink_ops = {
    .take = sink_take,
    .take_held = sink_take_held,
    .populate_flows = sink_populate_flows,
    .clear_flows = sink_clear_flows,
    .advance_clock = sink_advance_clock,
    .read_host_clock = sink_read_host_clock,
    .poll_tracers = sink_poll_tracers,
    .is_complete = sink_is_complete,
    .flush_output = sink_flush_output,
    .has_output = sink_has_output,
    .output_dropped = sink_output_dropped,
    .stop_printing = sink_stop_printing,
};

void
observer_sink_init(struct observer_sink *sink, struct observer *observer, struct printer *printer)
{
	*sink = (struct observer_sink){{&observer_sink_ops}, observer, printer};
}
