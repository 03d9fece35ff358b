package bitbucketcloud

// payloadTypes says for every body of the cloud edition that lies beside the
// repository what it is: the types of each of its events.
var payloadTypes = map[string]string{
	"drone__go-scm/cloud_pipeline_hook_created.json":                  "PIPELINE_STARTED+BUILD_STATUS_SET",
	"drone__go-scm/cloud_pipeline_hook_update.json":                   "PIPELINE_SUCCEEDED+BUILD_STATUS_SET",
	"drone__go-scm/cloud_pr_comment_created.json":                     "PULL_REQUEST_COMMENT_ADDED",
	"drone__go-scm/cloud_pr_comment_deleted.json":                     "PULL_REQUEST_COMMENT_DELETED",
	"drone__go-scm/cloud_pr_created.json":                             "PULL_REQUEST_OPENED",
	"drone__go-scm/cloud_pr_declined.json":                            "PULL_REQUEST_DECLINED",
	"drone__go-scm/cloud_pr_fulfilled.json":                           "PULL_REQUEST_MERGED",
	"drone__go-scm/cloud_pr_updated.json":                             "PULL_REQUEST_FIELD_EDITED", // until it is known what was seen last
	"drone__go-scm/cloud_push.json":                                   "BRANCH_UPDATED",
	"drone__go-scm/cloud_push_branch_create.json":                     "BRANCH_CREATED",
	"drone__go-scm/cloud_push_branch_delete.json":                     "BRANCH_DELETED",
	"drone__go-scm/cloud_push_tag_create.json":                        "TAG_CREATED",
	"drone__go-scm/cloud_push_tag_delete.json":                        "TAG_DELETED",
	"go-playground__webhooks/cloud_commit-comment-created.json":       "COMMIT_COMMENT_ADDED",
	"go-playground__webhooks/cloud_issue-comment-created.json":        "ISSUE_COMMENTED",
	"go-playground__webhooks/cloud_issue-created.json":                "ISSUE_CREATED",
	"go-playground__webhooks/cloud_issue-updated.json":                "ISSUE_UPDATED",
	"go-playground__webhooks/cloud_pull-request-approved.json":        "PULL_REQUEST_APPROVED",
	"go-playground__webhooks/cloud_pull-request-comment-created.json": "PULL_REQUEST_COMMENT_ADDED",
	"go-playground__webhooks/cloud_pull-request-created.json":         "PULL_REQUEST_OPENED",
	"go-playground__webhooks/cloud_pull-request-merged.json":          "PULL_REQUEST_MERGED",
	"go-playground__webhooks/cloud_repo-commit-status-created.json":   "BUILD_STATUS_SET", // of a build server
	"go-playground__webhooks/cloud_repo-commit-status-updated.json":   "BUILD_STATUS_SET",
	"go-playground__webhooks/cloud_repo-fork.json":                    "REPOSITORY_FORKED",
	"go-playground__webhooks/cloud_repo-push.json":                    "BRANCH_UPDATED",
	"go-playground__webhooks/cloud_repo-updated.json":                 "REPOSITORY_FIELD_EDITED",
	"woodpecker-ci__woodpecker/cloud_HookPull.json":                   "PULL_REQUEST_OPENED",
	"woodpecker-ci__woodpecker/cloud_HookPullRequestDeclined.json":    "PULL_REQUEST_DECLINED",
	"woodpecker-ci__woodpecker/cloud_HookPullRequestMerged.json":      "PULL_REQUEST_MERGED",
	"woodpecker-ci__woodpecker/cloud_HookPush.json":                   "BRANCH_UPDATED",
}
