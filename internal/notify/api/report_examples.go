package api

import (
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const saveReportText = "`id` 0 or absent creates a report; else it saves that report, and members that are left out get their " +
	"defaults, but for `webhookUrl`, `timeZone`, `connection`, `projectKey` and `repositoryKey`, which stay. For users who administer " +
	"the repository. Of a new report the platform is asked whether the repository exists: if it says no, the answer is 400; if it cannot " +
	"be asked or does not answer within 5 s, the report is saved, and `warnings` says so.\n\n" +
	"A report that is saved or switched on runs at the next time that it is due, never for one that has passed.\n\n" +
	"With its `version` (409), or `If-Match` (412), a save overwrites nothing that was saved meanwhile; without either it goes through.\n"

const noReportURL = "Give the whole webhook URL; a new report has none to keep."

// draftedReport and savedReport are a report of the examples, before and after it was
// saved.
func draftedReport() Report {
	return Report{
		Name: "Waiting reviews", ProjectKey: "ALPHA", RepositoryKey: "api",
		WebhookURL: "https://hooks.slack.com/services/T0000/B0000/c2VjcmV0", ChannelName: "API team",
		ReportContent: notify.ReportContent{InactivityDays: 14},
		ReportSchedule: notify.ReportSchedule{
			Frequency: notify.Weekly, Day: "MONDAY", Time: "09:00", TimeZone: "Europe/Berlin",
		},
	}
}

func savedReport() Report {
	r, on := draftedReport(), true
	r.ID, r.Version, r.Connection, r.WebhookURL, r.Channel = 3, 1, "main", "https://hooks.slack.com/…", "90ab12cd34ef5678"
	r.ChannelState, r.Format, r.Enabled = &RuleChannel{State: "open"}, notify.Auto, &on
	r.NextRunAt = time.Date(2026, 2, 9, 8, 0, 0, 0, time.UTC)
	r.CreatedBy, r.CreatedAt, r.UpdatedBy, r.UpdatedAt = "ada", exampleTime, "ada", exampleTime
	return r
}

func saveReportExamples() []rest.Example[saveReport, rest.Answer[Report]] {
	saved := savedReport()
	saved.Warnings = []Warning{{"repositoryKey", "Whether the repository exists was not checked: The platform of main does not answer."}}
	incomplete := Report{
		ProjectKey: "ALPHA", RepositoryKey: "api",
		ReportContent: notify.ReportContent{InactivityDays: 366},
		ReportSchedule: notify.ReportSchedule{
			Frequency: notify.Daily, Day: "FRIDAY", Time: "25:00", TimeZone: "Europe/Atlantis",
		},
	}
	return []rest.Example[saveReport, rest.Answer[Report]]{
		{
			Name: "weekly", In: saveReport{reportDraft: reportDraft{Report: draftedReport()}},
			Out: &rest.Answer[Report]{Status: 201, Body: saved},
		},
		{
			Name: "incomplete", In: saveReport{reportDraft: reportDraft{Report: incomplete}},
			Err: fault.Fields{
				{Name: "name", Message: "Give the report a name of 1 to 255 characters."},
				{Name: "inactivityDays", Message: "Give a number of days from 1 to 365."},
				{Name: "day", Message: "Only a weekly report has a day; leave it out."},
				{Name: "time", Message: "Give the time of day as HH:MM, from 00:00 to 23:59."},
				{Name: "timeZone", Message: `"Europe/Atlantis" is not a time zone; give an IANA name, such as Europe/Berlin or UTC.`},
				{Name: "webhookUrl", Message: noReportURL},
			}.Err(),
		},
	}
}
