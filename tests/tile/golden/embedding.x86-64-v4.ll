; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = urem i64 %".4", %".8"
  %".10" = udiv i64 %".4", %".8"
  %".11" = getelementptr ptr, ptr %".1", i64 0
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 1
  %".14" = load ptr, ptr %".13"
  %".15" = getelementptr ptr, ptr %".1", i64 2
  %".16" = load ptr, ptr %".15"
  %".17" = trunc i64 %".9" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = trunc i64 %".9" to i32
  %".20" = icmp slt i32 %".19", 0
  %".21" = add i32 %".19", 6
  %".22" = select  i1 %".20", i32 %".21", i32 %".19"
  %".23" = sext i32 %".22" to i64
  %".24" = icmp ult i64 %".23", 6
  %".25" = getelementptr inbounds i32, ptr %".12", i64 %".23"
  %".26" = select  i1 %".24", i64 %".23", i64 0
  %".27" = getelementptr inbounds i32, ptr %".12", i64 %".26"
  %".28" = load i32, ptr %".27", align 4
  %".29" = select  i1 %".24", i32 %".28", i32 2147483648
  %".30" = sext i32 %".29" to i64
  %".31" = sext i32 0 to i64
  %".32" = mul i64 %".31", 16
  %".33" = icmp ule i64 %".30", 9
  %".34" = icmp ule i64 %".32", 0
  %".35" = and i1 %".33", %".34"
  %".36" = mul i64 %".30", 16
  %".37" = add i64 %".36", %".32"
  %".38" = getelementptr float, ptr %".14", i64 %".37"
  %".39" = getelementptr i8, ptr %".3", i64 0
  %".40" = xor i1 %".35", -1
  br i1 %".40", label %"then", label %"end"
then:
  %".42" = getelementptr inbounds float, ptr %".39", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".42", align 4
  %".44" = icmp slt i64 %".30", 0
  %".45" = sub i64 0, %".30"
  %".46" = select  i1 %".44", i64 %".45", i64 0
  %".47" = sub i64 10, %".30"
  %".48" = icmp slt i64 %".47", 1
  %".49" = select  i1 %".48", i64 %".47", i64 1
  %".50" = icmp slt i64 %".32", 0
  %".51" = sub i64 0, %".32"
  %".52" = select  i1 %".50", i64 %".51", i64 0
  %".53" = sub i64 16, %".32"
  %".54" = icmp slt i64 %".53", 16
  %".55" = select  i1 %".54", i64 %".53", i64 16
  br label %"loop"
end:
  %".75" = select  i1 %".35", ptr %".38", ptr %".39"
  %".76" = trunc i64 %".9" to i32
  %".77" = sext i32 %".76" to i64
  %".78" = sext i32 0 to i64
  %".79" = mul i64 %".78", 16
  %".80" = icmp ule i64 %".77", 5
  %".81" = icmp ule i64 %".79", 0
  %".82" = and i1 %".80", %".81"
  %".83" = mul i64 %".77", 16
  %".84" = add i64 %".83", %".79"
  %".85" = getelementptr float, ptr %".16", i64 %".84"
  %".86" = getelementptr i8, ptr %".3", i64 64
  %".87" = xor i1 %".82", -1
  br i1 %".87", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [%".46", %"then"], [%".72", %"done.1"]
  %".57" = icmp slt i64 %"i", %".49"
  br i1 %".57", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  br label %"end"
loop.1:
  %"i.1" = phi  i64 [%".52", %"body"], [%".70", %"body.1"]
  %".60" = icmp slt i64 %"i.1", %".55"
  br i1 %".60", label %"body.1", label %"done.1"
body.1:
  %".62" = add i64 %".30", %"i"
  %".63" = add i64 %".32", %"i.1"
  %".64" = mul i64 %".62", 16
  %".65" = add i64 %".64", %".63"
  %".66" = getelementptr inbounds float, ptr %".14", i64 %".65"
  %".67" = load float, ptr %".66", align 4
  %".68" = getelementptr inbounds float, ptr %".39", i64 %"i.1"
  store float %".67", ptr %".68", align 4
  %".70" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".72" = add i64 %"i", 1
  br label %"loop"
then.1:
  %".89" = getelementptr inbounds float, ptr %".86", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".89", align 4
  %".91" = icmp slt i64 %".77", 0
  %".92" = sub i64 0, %".77"
  %".93" = select  i1 %".91", i64 %".92", i64 0
  %".94" = sub i64 6, %".77"
  %".95" = icmp slt i64 %".94", 1
  %".96" = select  i1 %".95", i64 %".94", i64 1
  %".97" = icmp slt i64 %".79", 0
  %".98" = sub i64 0, %".79"
  %".99" = select  i1 %".97", i64 %".98", i64 0
  %".100" = sub i64 16, %".79"
  %".101" = icmp slt i64 %".100", 16
  %".102" = select  i1 %".101", i64 %".100", i64 16
  br label %"loop.2"
end.1:
  %".122" = select  i1 %".82", ptr %".85", ptr %".86"
  %".123" = getelementptr inbounds float, ptr %".75", i64 0
  %".124" = load <16 x float>, ptr %".123", align 4
  %".125" = getelementptr inbounds float, ptr %".122", i64 0
  store <16 x float> %".124", ptr %".125", align 4
  br i1 %".87", label %"then.2", label %"end.2"
loop.2:
  %"i.2" = phi  i64 [%".93", %"then.1"], [%".119", %"done.3"]
  %".104" = icmp slt i64 %"i.2", %".96"
  br i1 %".104", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end.1"
loop.3:
  %"i.3" = phi  i64 [%".99", %"body.2"], [%".117", %"body.3"]
  %".107" = icmp slt i64 %"i.3", %".102"
  br i1 %".107", label %"body.3", label %"done.3"
body.3:
  %".109" = add i64 %".77", %"i.2"
  %".110" = add i64 %".79", %"i.3"
  %".111" = mul i64 %".109", 16
  %".112" = add i64 %".111", %".110"
  %".113" = getelementptr inbounds float, ptr %".16", i64 %".112"
  %".114" = load float, ptr %".113", align 4
  %".115" = getelementptr inbounds float, ptr %".86", i64 %"i.3"
  store float %".114", ptr %".115", align 4
  %".117" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".119" = add i64 %"i.2", 1
  br label %"loop.2"
then.2:
  %".128" = icmp slt i64 %".77", 0
  %".129" = sub i64 0, %".77"
  %".130" = select  i1 %".128", i64 %".129", i64 0
  %".131" = sub i64 6, %".77"
  %".132" = icmp slt i64 %".131", 1
  %".133" = select  i1 %".132", i64 %".131", i64 1
  %".134" = icmp slt i64 %".79", 0
  %".135" = sub i64 0, %".79"
  %".136" = select  i1 %".134", i64 %".135", i64 0
  %".137" = sub i64 16, %".79"
  %".138" = icmp slt i64 %".137", 16
  %".139" = select  i1 %".138", i64 %".137", i64 16
  br label %"loop.4"
end.2:
  ret void
loop.4:
  %"i.4" = phi  i64 [%".130", %"then.2"], [%".156", %"done.5"]
  %".141" = icmp slt i64 %"i.4", %".133"
  br i1 %".141", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.2"
loop.5:
  %"i.5" = phi  i64 [%".136", %"body.4"], [%".154", %"body.5"]
  %".144" = icmp slt i64 %"i.5", %".139"
  br i1 %".144", label %"body.5", label %"done.5"
body.5:
  %".146" = add i64 %".77", %"i.4"
  %".147" = add i64 %".79", %"i.5"
  %".148" = getelementptr inbounds float, ptr %".86", i64 %"i.5"
  %".149" = load float, ptr %".148", align 4
  %".150" = mul i64 %".146", 16
  %".151" = add i64 %".150", %".147"
  %".152" = getelementptr inbounds float, ptr %".16", i64 %".151"
  store float %".149", ptr %".152", align 4
  %".154" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".156" = add i64 %"i.4", 1
  br label %"loop.4"
}
