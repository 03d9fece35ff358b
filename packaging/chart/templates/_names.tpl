{{- define "outrigger.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "outrigger.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "outrigger.labels" -}}
{{ include "outrigger.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "outrigger.path" -}}
{{ trimSuffix "/" (urlParse .Values.baseURL).path }}
{{- end }}

{{- define "outrigger.settings" -}}
{{- $fixed := dict "base_url" .Values.baseURL "listen" ":8090" "data_dir" "/var/lib/outrigger" -}}
{{- if gt (int .Values.replicas) 1 -}}
{{- $_ := set $fixed "cluster" (dict "enabled" true) -}}
{{- $_ := set $fixed "database_url_file" "/run/secrets/outrigger/database-url" -}}
{{- $_ := set $fixed "secret_key_file" "/run/secrets/outrigger/secret-key" -}}
{{- end -}}
{{- if .Values.mail.enabled -}}
{{- $_ := set $fixed "mail" (dict "listen" (printf ":%d" (int .Values.mail.port))) -}}
{{- end -}}
{{- mergeOverwrite (deepCopy .Values.settings) $fixed | toYaml -}}
{{- end }}
