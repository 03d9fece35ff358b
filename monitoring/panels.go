package monitoring

// Row is a row of the dashboard.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel is a graph or, if Now, a single value for each line.
type Panel struct {
	Title, Help string
	Unit        string // as Grafana names it
	Now         bool
	Lines       []Line
}

// Line is an expression and its legend.
type Line struct{ Expr, Legend string }

// all selects the nodes that the user chose.
const all = `{job="$job",instance=~"$instance"}`

// rate returns the rate of a counter per second, by node or by the given label.
func rate(metric, by string) string {
	return "sum by (" + by + ") (rate(" + metric + "[$__rate_interval]))"
}

// quantile returns a percentile of a histogram.
func quantile(q, metric string) string {
	return "histogram_quantile(" + q + ", sum by (instance, le) (rate(" + metric + "_bucket" + all + "[$__rate_interval])))"
}

// Rows are the rows of the dashboard.
var Rows = []Row{
	{"State", []Panel{
		{"Ready", "1 while /readyz is 200.", "none", true, []Line{{"outrigger_ready" + all, "{{instance}}"}}},
		{"Needs attention", "As on the overview, by kind.", "none", true, []Line{{"max by (kind) (outrigger_attention" + all + ")", "{{kind}}"}}},
		{"Nodes by state", "", "none", true, []Line{{"max by (state) (outrigger_cluster_nodes" + all + ") > 0", "{{state}}"}}},
		{"Free space of the data folder", "", "bytes", false, []Line{{"outrigger_data_folder_free_bytes" + all, "{{instance}}"}}},
		{"Certificates and credentials end in", "Where the day is known.", "s", true, []Line{
			{"min by (file) (outrigger_tls_certificate_expiry_timestamp_seconds" + all + ") - time()", "{{file}}"},
			{"min by (credential) (outrigger_credential_expiry_timestamp_seconds" + all + ") - time()", "{{credential}}"},
		}},
		{"Last backup and last clean-up", "How long ago.", "s", true, []Line{
			{"time() - max(outrigger_backup_last_timestamp_seconds" + all + " > 0)", "backup"},
			{"time() - max(outrigger_retention_last_round_timestamp_seconds" + all + ")", "clean-up"},
		}},
	}},
	{"Notifications", []Panel{
		{"Webhooks", "By outcome.", "cps", false, []Line{
			{rate("outrigger_notify_webhooks_total"+all, "outcome"), "{{outcome}}"},
			{rate("outrigger_notify_webhooks_refused_total"+all, "reason"), "refused: {{reason}}"},
		}},
		{"Deliveries", "How they ended.", "cps", false, []Line{{rate("outrigger_notify_deliveries_total"+all, "state"), "{{state}}"}}},
		{"Messages that wait", "", "none", false, []Line{{"outrigger_notify_waiting" + all, "{{instance}}"}}},
		{"Oldest message that waits", "", "s", false, []Line{{"outrigger_notify_oldest_waiting_seconds" + all, "{{instance}}"}}},
		{"Channels", "By state.", "none", false, []Line{{"sum by (state) (outrigger_notify_channels" + all + ")", "{{state}}"}}},
		{"Answers of chat platforms", "95 and 50 of 100 come sooner.", "s", false, []Line{
			{quantile("0.95", "outrigger_notify_attempt_seconds"), "95 % {{instance}}"},
			{quantile("0.5", "outrigger_notify_attempt_seconds"), "50 % {{instance}}"},
		}},
	}},
	{"Mail", []Panel{
		{"Mail queue", "", "none", false, []Line{
			{"max by (node) (outrigger_mail_queue_messages" + all + ")", "{{node}}"},
			{"max by (node) (outrigger_mail_queue_error_messages" + all + ")", "errors {{node}}"},
		}},
		{"Mail", "Received, sent, put off and failed.", "cps", false, []Line{
			{rate("outrigger_mail_received_total"+all, "instance"), "received {{instance}}"},
			{rate("outrigger_mail_queue_sent_total"+all, "instance"), "sent {{instance}}"},
			{rate("outrigger_mail_queue_deferred_total"+all, "instance"), "put off {{instance}}"},
			{rate("outrigger_mail_queue_failed_total"+all, "instance"), "failed {{instance}}"},
		}},
		{"Oldest message in the queue", "", "s", false, []Line{{"outrigger_mail_queue_oldest_message_age_seconds" + all, "{{instance}}"}}},
		{"Refused", "By SMTP code.", "cps", false, []Line{{rate("outrigger_mail_refused_total"+all, "code"), "{{code}}"}}},
		{"Paused", "By an administrator, or because of the smarthost.", "none", true, []Line{
			{"max by (node) (outrigger_mail_paused" + all + ") > 0", "{{node}}"},
			{"max by (node, reason) (outrigger_mail_smarthost_paused" + all + ") > 0", "{{node}}: {{reason}}"},
		}},
		{"Age of readings of other queues", "", "s", false, []Line{{"max by (node) (outrigger_mail_queue_sample_age_seconds" + all + ")",
			"{{node}}"}}},
	}},
	{"Migration of threaded comments", []Panel{
		{"Records", "", "none", false, []Line{{"max by (state) (outrigger_threads_migration_records" + all + ")", "{{state}}"}}},
		{"Requests to the cloud site", "By status; 0: no answer.", "cps", false,
			[]Line{{rate("outrigger_threads_cloud_requests_total"+all, "status"), "{{status}}"}}},
		{"Records processed and exported", "", "cps", false, []Line{
			{rate("outrigger_threads_records_total"+all, "instance"), "processed {{instance}}"},
			{rate("outrigger_threads_export_records_total"+all, "instance"), "exported {{instance}}"},
		}},
	}},
	{"Requests, database, process", []Panel{
		{"Requests", "By status.", "reqps", false, []Line{{rate("outrigger_http_requests_total"+all, "status"), "{{status}}"}}},
		{"Time of a request", "95 of 100 are answered sooner.", "s", false,
			[]Line{{quantile("0.95", "outrigger_http_request_duration_seconds"), "{{instance}}"}}},
		{"Time of a commit", "99 and 50 of 100 take less.", "s", false, []Line{
			{quantile("0.99", "outrigger_db_commit_seconds"), "99 % {{instance}}"},
			{quantile("0.5", "outrigger_db_commit_seconds"), "50 % {{instance}}"},
		}},
		{"Size of the database", "With SQLite's log.", "bytes", false, []Line{
			{"outrigger_db_size_bytes" + all, "{{instance}}"},
			{"outrigger_db_log_size_bytes" + all, "log {{instance}}"},
		}},
		{"Memory", "", "bytes", false, []Line{{"process_resident_memory_bytes" + all, "{{instance}}"}}},
		{"Processors", "How many are used.", "none", false, []Line{{rate("process_cpu_seconds_total"+all, "instance"), "{{instance}}"}}},
	}},
}
