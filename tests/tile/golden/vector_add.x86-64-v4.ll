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
  %".20" = sext i32 %".19" to i64
  %".21" = mul i64 %".20", 20
  %".22" = icmp ule i64 %".21", 20
  %".23" = getelementptr float, ptr %".12", i64 %".21"
  %".24" = getelementptr i8, ptr %".3", i64 0
  %".25" = xor i1 %".22", -1
  br i1 %".25", label %"then", label %"end"
then:
  %".27" = getelementptr inbounds float, ptr %".24", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".27", align 4
  %".29" = getelementptr inbounds float, ptr %".24", i64 16
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".29", align 4
  %".31" = icmp slt i64 %".21", 0
  %".32" = sub i64 0, %".21"
  %".33" = select  i1 %".31", i64 %".32", i64 0
  %".34" = sub i64 40, %".21"
  %".35" = icmp slt i64 %".34", 20
  %".36" = select  i1 %".35", i64 %".34", i64 20
  br label %"loop"
end:
  %".48" = select  i1 %".22", ptr %".23", ptr %".24"
  %".49" = trunc i64 %".9" to i32
  %".50" = sext i32 %".49" to i64
  %".51" = mul i64 %".50", 20
  %".52" = icmp ule i64 %".51", 20
  %".53" = getelementptr float, ptr %".14", i64 %".51"
  %".54" = getelementptr i8, ptr %".3", i64 128
  %".55" = xor i1 %".52", -1
  br i1 %".55", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [%".33", %"then"], [%".45", %"body"]
  %".38" = icmp slt i64 %"i", %".36"
  br i1 %".38", label %"body", label %"done"
body:
  %".40" = add i64 %".21", %"i"
  %".41" = getelementptr inbounds float, ptr %".12", i64 %".40"
  %".42" = load float, ptr %".41", align 4
  %".43" = getelementptr inbounds float, ptr %".24", i64 %"i"
  store float %".42", ptr %".43", align 4
  %".45" = add i64 %"i", 1
  br label %"loop"
done:
  br label %"end"
then.1:
  %".57" = getelementptr inbounds float, ptr %".54", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".57", align 4
  %".59" = getelementptr inbounds float, ptr %".54", i64 16
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".59", align 4
  %".61" = icmp slt i64 %".51", 0
  %".62" = sub i64 0, %".51"
  %".63" = select  i1 %".61", i64 %".62", i64 0
  %".64" = sub i64 40, %".51"
  %".65" = icmp slt i64 %".64", 20
  %".66" = select  i1 %".65", i64 %".64", i64 20
  br label %"loop.1"
end.1:
  %".78" = select  i1 %".52", ptr %".53", ptr %".54"
  %".79" = trunc i64 %".9" to i32
  %".80" = sext i32 %".79" to i64
  %".81" = mul i64 %".80", 20
  %".82" = icmp ule i64 %".81", 20
  %".83" = getelementptr float, ptr %".16", i64 %".81"
  %".84" = getelementptr i8, ptr %".3", i64 256
  %".85" = xor i1 %".82", -1
  br i1 %".85", label %"then.2", label %"end.2"
loop.1:
  %"i.1" = phi  i64 [%".63", %"then.1"], [%".75", %"body.1"]
  %".68" = icmp slt i64 %"i.1", %".66"
  br i1 %".68", label %"body.1", label %"done.1"
body.1:
  %".70" = add i64 %".51", %"i.1"
  %".71" = getelementptr inbounds float, ptr %".14", i64 %".70"
  %".72" = load float, ptr %".71", align 4
  %".73" = getelementptr inbounds float, ptr %".54", i64 %"i.1"
  store float %".72", ptr %".73", align 4
  %".75" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"end.1"
then.2:
  %".87" = getelementptr inbounds float, ptr %".84", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".87", align 4
  %".89" = getelementptr inbounds float, ptr %".84", i64 16
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".89", align 4
  %".91" = icmp slt i64 %".81", 0
  %".92" = sub i64 0, %".81"
  %".93" = select  i1 %".91", i64 %".92", i64 0
  %".94" = sub i64 40, %".81"
  %".95" = icmp slt i64 %".94", 20
  %".96" = select  i1 %".95", i64 %".94", i64 20
  br label %"loop.2"
end.2:
  %".108" = select  i1 %".82", ptr %".83", ptr %".84"
  %".109" = getelementptr inbounds float, ptr %".48", i64 0
  %".110" = load <16 x float>, ptr %".109", align 4
  %".111" = getelementptr inbounds float, ptr %".78", i64 0
  %".112" = load <16 x float>, ptr %".111", align 4
  %".113" = fadd <16 x float> %".110", %".112"
  %".114" = getelementptr inbounds float, ptr %".108", i64 0
  store <16 x float> %".113", ptr %".114", align 4
  %".116" = getelementptr inbounds float, ptr %".48", i64 16
  %".117" = load <4 x float>, ptr %".116", align 4
  %".118" = getelementptr inbounds float, ptr %".78", i64 16
  %".119" = load <4 x float>, ptr %".118", align 4
  %".120" = fadd <4 x float> %".117", %".119"
  %".121" = getelementptr inbounds float, ptr %".108", i64 16
  store <4 x float> %".120", ptr %".121", align 4
  br i1 %".85", label %"then.3", label %"end.3"
loop.2:
  %"i.2" = phi  i64 [%".93", %"then.2"], [%".105", %"body.2"]
  %".98" = icmp slt i64 %"i.2", %".96"
  br i1 %".98", label %"body.2", label %"done.2"
body.2:
  %".100" = add i64 %".81", %"i.2"
  %".101" = getelementptr inbounds float, ptr %".16", i64 %".100"
  %".102" = load float, ptr %".101", align 4
  %".103" = getelementptr inbounds float, ptr %".84", i64 %"i.2"
  store float %".102", ptr %".103", align 4
  %".105" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  br label %"end.2"
then.3:
  %".124" = icmp slt i64 %".81", 0
  %".125" = sub i64 0, %".81"
  %".126" = select  i1 %".124", i64 %".125", i64 0
  %".127" = sub i64 40, %".81"
  %".128" = icmp slt i64 %".127", 20
  %".129" = select  i1 %".128", i64 %".127", i64 20
  br label %"loop.3"
end.3:
  ret void
loop.3:
  %"i.3" = phi  i64 [%".126", %"then.3"], [%".138", %"body.3"]
  %".131" = icmp slt i64 %"i.3", %".129"
  br i1 %".131", label %"body.3", label %"done.3"
body.3:
  %".133" = add i64 %".81", %"i.3"
  %".134" = getelementptr inbounds float, ptr %".84", i64 %"i.3"
  %".135" = load float, ptr %".134", align 4
  %".136" = getelementptr inbounds float, ptr %".16", i64 %".133"
  store float %".135", ptr %".136", align 4
  %".138" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  br label %"end.3"
}
