package expr

import (
	"strings"
	"time"
)

// shortZones are the zones that short names stand for, as Java has them.
const shortZones = "ACT Australia/Darwin AET Australia/Sydney AGT America/Argentina/Buenos_Aires ART Africa/Cairo AST America/Anchorage " +
	"BET America/Sao_Paulo BST Asia/Dhaka CAT Africa/Harare CNT America/St_Johns CST America/Chicago CTT Asia/Shanghai EAT Africa/Addis_Ababa " +
	"ECT Europe/Paris IET America/Indiana/Indianapolis IST Asia/Kolkata JST Asia/Tokyo MIT Pacific/Apia NET Asia/Yerevan NST Pacific/Auckland " +
	"PLT Asia/Karachi PNT America/Phoenix PRT America/Puerto_Rico PST America/Los_Angeles SST Pacific/Guadalcanal VST Asia/Ho_Chi_Minh"

// zoneOf finds a zone by the name that a user gives a function: Europe/Berlin, UTC, PST, GMT+8, GMT-08:00.
func zoneOf(name string) (*time.Location, bool) {
	if name == "" || name == "Local" {
		return nil, false
	}
	if rest, ok := strings.CutPrefix(name, "GMT"); ok && rest != "" && (rest[0] == '+' || rest[0] == '-') {
		// Of an offset the minutes may be missing, and of hours alone a digit.
		hours, minutes, colon := strings.Cut(rest[1:], ":")
		if !colon && len(hours) > 2 {
			hours, minutes = hours[:len(hours)-2], hours[len(hours)-2:]
		} else if !colon {
			minutes = "00"
		}
		if len(hours) == 1 {
			hours = "0" + hours
		}
		seconds, n := cutOffset(rest[:1]+hours+":"+minutes, 3)
		if n == 0 || n != len(hours)+len(minutes)+2 {
			return nil, false
		}
		return time.FixedZone(name, seconds), true
	}
	if fields := strings.Fields(shortZones); len(name) == 3 {
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == name {
				name = fields[i+1]
				break
			}
		}
	}
	loc, err := time.LoadLocation(name)
	return loc, err == nil
}
