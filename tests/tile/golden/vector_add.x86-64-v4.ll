; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = urem i64 %".4", %".7"
  %".9" = udiv i64 %".4", %".7"
  %".10" = getelementptr ptr, ptr %".1", i64 0
  %".11" = load ptr, ptr %".10"
  %".12" = getelementptr ptr, ptr %".1", i64 1
  %".13" = load ptr, ptr %".12"
  %".14" = getelementptr ptr, ptr %".1", i64 2
  %".15" = load ptr, ptr %".14"
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".7" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = sext i32 %".18" to i64
  %".20" = mul i64 %".19", 20
  %".21" = icmp ule i64 %".20", 20
  %".22" = getelementptr float, ptr %".11", i64 %".20"
  %".23" = getelementptr i8, ptr %".3", i64 0
  %".24" = xor i1 %".21", -1
  br i1 %".24", label %"then", label %"end"
then:
  %".26" = getelementptr inbounds float, ptr %".23", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".26", align 4
  %".28" = getelementptr inbounds float, ptr %".23", i64 16
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".28", align 4
  %".30" = icmp slt i64 %".20", 0
  %".31" = sub i64 0, %".20"
  %".32" = select  i1 %".30", i64 %".31", i64 0
  %".33" = sub i64 40, %".20"
  %".34" = icmp slt i64 %".33", 20
  %".35" = select  i1 %".34", i64 %".33", i64 20
  br label %"loop"
end:
  %".47" = select  i1 %".21", ptr %".22", ptr %".23"
  %".48" = trunc i64 %".8" to i32
  %".49" = sext i32 %".48" to i64
  %".50" = mul i64 %".49", 20
  %".51" = icmp ule i64 %".50", 20
  %".52" = getelementptr float, ptr %".13", i64 %".50"
  %".53" = getelementptr i8, ptr %".3", i64 128
  %".54" = xor i1 %".51", -1
  br i1 %".54", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [%".32", %"then"], [%".44", %"body"]
  %".37" = icmp slt i64 %"i", %".35"
  br i1 %".37", label %"body", label %"done"
body:
  %".39" = add i64 %".20", %"i"
  %".40" = getelementptr inbounds float, ptr %".11", i64 %".39"
  %".41" = load float, ptr %".40", align 4
  %".42" = getelementptr inbounds float, ptr %".23", i64 %"i"
  store float %".41", ptr %".42", align 4
  %".44" = add i64 %"i", 1
  br label %"loop"
done:
  br label %"end"
then.1:
  %".56" = getelementptr inbounds float, ptr %".53", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".56", align 4
  %".58" = getelementptr inbounds float, ptr %".53", i64 16
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".58", align 4
  %".60" = icmp slt i64 %".50", 0
  %".61" = sub i64 0, %".50"
  %".62" = select  i1 %".60", i64 %".61", i64 0
  %".63" = sub i64 40, %".50"
  %".64" = icmp slt i64 %".63", 20
  %".65" = select  i1 %".64", i64 %".63", i64 20
  br label %"loop.1"
end.1:
  %".77" = select  i1 %".51", ptr %".52", ptr %".53"
  %".78" = trunc i64 %".8" to i32
  %".79" = sext i32 %".78" to i64
  %".80" = mul i64 %".79", 20
  %".81" = icmp ule i64 %".80", 20
  %".82" = getelementptr float, ptr %".15", i64 %".80"
  %".83" = getelementptr i8, ptr %".3", i64 256
  %".84" = xor i1 %".81", -1
  br i1 %".84", label %"then.2", label %"end.2"
loop.1:
  %"i.1" = phi  i64 [%".62", %"then.1"], [%".74", %"body.1"]
  %".67" = icmp slt i64 %"i.1", %".65"
  br i1 %".67", label %"body.1", label %"done.1"
body.1:
  %".69" = add i64 %".50", %"i.1"
  %".70" = getelementptr inbounds float, ptr %".13", i64 %".69"
  %".71" = load float, ptr %".70", align 4
  %".72" = getelementptr inbounds float, ptr %".53", i64 %"i.1"
  store float %".71", ptr %".72", align 4
  %".74" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"end.1"
then.2:
  %".86" = getelementptr inbounds float, ptr %".83", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".86", align 4
  %".88" = getelementptr inbounds float, ptr %".83", i64 16
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".88", align 4
  %".90" = icmp slt i64 %".80", 0
  %".91" = sub i64 0, %".80"
  %".92" = select  i1 %".90", i64 %".91", i64 0
  %".93" = sub i64 40, %".80"
  %".94" = icmp slt i64 %".93", 20
  %".95" = select  i1 %".94", i64 %".93", i64 20
  br label %"loop.2"
end.2:
  %".107" = select  i1 %".81", ptr %".82", ptr %".83"
  %".108" = getelementptr inbounds float, ptr %".47", i64 0
  %".109" = load <16 x float>, ptr %".108", align 4
  %".110" = getelementptr inbounds float, ptr %".77", i64 0
  %".111" = load <16 x float>, ptr %".110", align 4
  %".112" = fadd <16 x float> %".109", %".111"
  %".113" = getelementptr inbounds float, ptr %".107", i64 0
  store <16 x float> %".112", ptr %".113", align 4
  %".115" = getelementptr inbounds float, ptr %".47", i64 16
  %".116" = load <4 x float>, ptr %".115", align 4
  %".117" = getelementptr inbounds float, ptr %".77", i64 16
  %".118" = load <4 x float>, ptr %".117", align 4
  %".119" = fadd <4 x float> %".116", %".118"
  %".120" = getelementptr inbounds float, ptr %".107", i64 16
  store <4 x float> %".119", ptr %".120", align 4
  br i1 %".84", label %"then.3", label %"end.3"
loop.2:
  %"i.2" = phi  i64 [%".92", %"then.2"], [%".104", %"body.2"]
  %".97" = icmp slt i64 %"i.2", %".95"
  br i1 %".97", label %"body.2", label %"done.2"
body.2:
  %".99" = add i64 %".80", %"i.2"
  %".100" = getelementptr inbounds float, ptr %".15", i64 %".99"
  %".101" = load float, ptr %".100", align 4
  %".102" = getelementptr inbounds float, ptr %".83", i64 %"i.2"
  store float %".101", ptr %".102", align 4
  %".104" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  br label %"end.2"
then.3:
  %".123" = icmp slt i64 %".80", 0
  %".124" = sub i64 0, %".80"
  %".125" = select  i1 %".123", i64 %".124", i64 0
  %".126" = sub i64 40, %".80"
  %".127" = icmp slt i64 %".126", 20
  %".128" = select  i1 %".127", i64 %".126", i64 20
  br label %"loop.3"
end.3:
  ret void
loop.3:
  %"i.3" = phi  i64 [%".125", %"then.3"], [%".137", %"body.3"]
  %".130" = icmp slt i64 %"i.3", %".128"
  br i1 %".130", label %"body.3", label %"done.3"
body.3:
  %".132" = add i64 %".80", %"i.3"
  %".133" = getelementptr inbounds float, ptr %".83", i64 %"i.3"
  %".134" = load float, ptr %".133", align 4
  %".135" = getelementptr inbounds float, ptr %".15", i64 %".132"
  store float %".134", ptr %".135", align 4
  %".137" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  br label %"end.3"
}
