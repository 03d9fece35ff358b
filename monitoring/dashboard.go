package monitoring

import (
	"bytes"
	"encoding/json"
)

// object is an object of JSON.
type object map[string]any

const (
	columns     = 3
	panelWidth  = 24 / columns // of the 24 that Grafana has
	panelHeight = 7
)

// source is the data source that the user selects.
var source = object{"type": "prometheus", "uid": "${datasource}"}

// MakeDashboard returns the dashboard of Rows, in the format that Grafana imports.
func MakeDashboard() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object{
		"title": "Outrigger", "uid": "outrigger", "tags": []string{"outrigger"}, "schemaVersion": 38, "editable": true,
		"refresh": "30s", "time": object{"from": "now-6h", "to": "now"},
		"templating": object{"list": []object{
			{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
			variable("job", "Job", "label_values(outrigger_build_info, job)", false),
			variable("instance", "Node", `label_values(outrigger_build_info{job="$job"}, instance)`, true),
		}},
		"panels": panels(),
	})
	return out.Bytes(), err
}

// variable returns a variable of the dashboard, of one value or several.
func variable(name, label, query string, several bool) object {
	v := object{
		"name": name, "label": label, "type": "query", "datasource": source, "refresh": 2, "sort": 1,
		"query": object{"query": query, "refId": name}, "definition": query,
	}
	if several {
		v["multi"], v["includeAll"], v["current"] = true, true, object{"text": []string{"All"}, "value": []string{"$__all"}}
	}
	return v
}

// panels returns the panels with their positions, row by row.
func panels() (list []object) {
	y := 0
	add := func(p object, x, width, height int) {
		p["id"], p["gridPos"] = len(list)+1, object{"x": x, "y": y, "w": width, "h": height}
		list = append(list, p)
	}
	for _, row := range Rows {
		add(object{"type": "row", "title": row.Title, "collapsed": false, "panels": []object{}}, 0, columns*panelWidth, 1)
		y++
		for i, p := range row.Panels {
			add(p.object(), i%columns*panelWidth, panelWidth, panelHeight)
			if i%columns == columns-1 || i == len(row.Panels)-1 {
				y += panelHeight
			}
		}
	}
	return list
}

func (p *Panel) object() object {
	targets := make([]object, len(p.Lines))
	for i, line := range p.Lines {
		targets[i] = object{"refId": string(rune('A' + i)), "datasource": source, "expr": line.Expr, "legendFormat": line.Legend,
			"instant": p.Now, "range": !p.Now}
	}
	o := object{
		"type": "timeseries", "title": p.Title, "datasource": source, "targets": targets,
		"fieldConfig": object{"defaults": object{"unit": p.Unit, "min": 0}, "overrides": []object{}},
		"options": object{"legend": object{"displayMode": "list", "placement": "bottom", "showLegend": true},
			"tooltip": object{"mode": "multi", "sort": "desc"}},
	}
	if p.Help != "" {
		o["description"] = p.Help
	}
	if p.Now {
		o["type"] = "stat"
		o["fieldConfig"] = object{"defaults": object{"unit": p.Unit}, "overrides": []object{}}
		o["options"] = object{"colorMode": "none", "graphMode": "none", "textMode": "value_and_name",
			"reduceOptions": object{"calcs": []string{"lastNotNull"}}}
	}
	return o
}
