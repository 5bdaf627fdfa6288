/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Kafka cluster of one broker with the topic netobs, librdkafka's own for tests.  Prints the broker's address, and
 * ends when standard input does.
 */
#include <stdio.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

int
main(void)
{
	char error[256];
	rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, NULL, error, sizeof(error));
	rd_kafka_mock_cluster_t *cluster = client != NULL ? rd_kafka_mock_cluster_new(client, 1) : NULL;

	if (cluster == NULL || rd_kafka_mock_topic_create(cluster, "netobs", 1, 1) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		fprintf(stderr, "mock_cluster: %s\n", client == NULL ? error : "no cluster");
		return 1;
	}
	puts(rd_kafka_mock_cluster_bootstraps(cluster));
	fflush(stdout);
	while (getchar() != EOF)
		;
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(client);
	return 0;
}
